/**
 * Text from elsewhere in Markdown of ours: names of tests and files must not become links,
 * commands or the end of a table's cell.
 */

/** `text` on one line, with nothing left that Markdown gives a meaning. */
export function plain(text: string): string {
  return text.replace(/\s+/g, " ").replace(/[\\`*_{}[\]<>#|~$!&]/g, "\\$&");
}
