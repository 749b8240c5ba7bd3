// Places in the fixture files, named by their text so that the files can grow.

import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A file of the workspace as the tests see it. */
export class Source {
  /** @param {string} workspace @param {string} name relative to the workspace */
  constructor(workspace, name) {
    this.name = name;
    this.path = join(workspace, name);
    this.text = readFileSync(this.path, "utf8");
    this.lines = this.text.split("\n");
  }

  /**
   * Where `word` stands on the only line that contains `line`; 1-based, the column at the start of
   * the word.
   */
  place(line, word = line) {
    const hits = this.lines.flatMap((text, index) => (text.includes(line) ? [index] : []));
    if (hits.length !== 1) {
      throw new Error(`${this.name}: ${hits.length} lines contain "${line}", expected one`);
    }
    const column = this.lines[hits[0]].indexOf(word);
    if (column < 0) {
      throw new Error(`${this.name}: "${word}" is not on the line of "${line}"`);
    }
    return { line: hits[0] + 1, column: column + 1 };
  }
}
