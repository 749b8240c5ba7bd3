/**
 * Where a kernel stands in a document that may have been edited since the server looked.
 */

/** The lines of a document. */
export interface Lines {
  readonly lineCount: number;
  readonly text: (line: number) => string;
}

/** The line of `def <last part of name>(` nearest to `near`, or undefined. */
export function kernelLine(lines: Lines, name: string, near: number): number | undefined {
  const own = name.slice(name.lastIndexOf(".") + 1);
  const definition = new RegExp(`^\\s*(?:async\\s+)?def\\s+${escape(own)}\\s*[(\\[]`, "u");
  const is = (line: number): boolean =>
    line >= 0 && line < lines.lineCount && definition.test(lines.text(line));
  const start = Math.min(Math.max(near, 0), lines.lineCount - 1);
  for (let away = 0; away < lines.lineCount; away++) {
    for (const line of [start - away, start + away]) {
      if (is(line)) {
        return line;
      }
    }
  }
  return undefined;
}

function escape(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
