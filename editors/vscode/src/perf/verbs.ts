/**
 * The commands of the experiment loop: what each needs before it can be sent. Their titles are in
 * the manifest.
 */

import { RUN_ITERATION_COMMAND } from "./protocol";

/** One command. */
export interface Verb {
  readonly command: string;
  /** It runs code of the workspace: only where the workspace is trusted. */
  readonly runs: boolean;
  /** It measures what is on disk, so what is typed must be saved first. Verbs that put other code
   * there save nothing: the server refuses them over unsaved edits, and those stay in the editor. */
  readonly saves: boolean;
  /** A run goes on after the answer; its end is told. */
  readonly begins?: true;
  /** A question to ask first. */
  readonly asks?: "goal" | "commits" | "abandon";
  /** Its answer is a report. */
  readonly reports?: true;
}

const PREFIX = "tileperf.perf.";

export const VERBS: readonly Verb[] = [
  { command: RUN_ITERATION_COMMAND, runs: true, saves: true, begins: true },
  // Saves nothing: what is typed would be a second change, which the server refuses.
  { command: `${PREFIX}apply`, runs: true, saves: false, begins: true },
  // Opens the plan itself.
  { command: `${PREFIX}plan`, runs: false, saves: false },
  { command: `${PREFIX}setup`, runs: true, saves: true, asks: "goal" },
  { command: `${PREFIX}baseline`, runs: true, saves: true, begins: true },
  { command: `${PREFIX}status`, runs: false, saves: false },
  { command: `${PREFIX}attach`, runs: false, saves: false, begins: true },
  { command: `${PREFIX}stop`, runs: false, saves: false },
  { command: `${PREFIX}resume`, runs: true, saves: true },
  { command: `${PREFIX}finish`, runs: true, saves: false, asks: "commits" },
  { command: `${PREFIX}undo`, runs: true, saves: false },
  { command: `${PREFIX}abandon`, runs: true, saves: false, asks: "abandon" },
  { command: `${PREFIX}report`, runs: false, saves: false, reports: true },
];

export const REPORT_COMMAND = `${PREFIX}report`;
export const STOP_COMMAND = `${PREFIX}stop`;
