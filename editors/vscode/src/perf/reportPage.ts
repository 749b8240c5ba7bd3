/**
 * The report as a page in a panel of the editor.
 */

/** Nothing may be loaded, nothing may run: styles and SVG inside the page are all it needs. */
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; form-action 'none'";

/** `page` under a policy that allows no scripts and no requests, wherever its head is. */
export function secured(page: string): string {
  const meta = `<meta http-equiv="Content-Security-Policy" content="${POLICY}">`;
  // A policy counts only from where it stands on, so it goes before everything else of the page.
  const head = /<head(?:\s[^>]*)?>/i.exec(page);
  if (head) {
    const end = head.index + head[0].length;
    return page.slice(0, end) + meta + page.slice(end);
  }
  return `<!DOCTYPE html><html><head>${meta}</head><body>${page}</body></html>`;
}
