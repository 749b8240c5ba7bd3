/**
 * What the editor and the server say to each other about the experiment loop.
 *
 * The server follows the journals of the workspace and tells what they hold; the editor sends
 * commands and never runs anything itself. A field that is left out or null means "not known".
 */

import type { Position, Range } from "vscode-languageclient/node";

/** Server to client, whenever a session's journal has grown: the last state of that session. */
export const RUN_NOTIFICATION = "tileperf/run";

/** Client to server, `{ uri? }`: the states of all sessions, or of those in one document. */
export const RUNS_REQUEST = "tileperf/runs";

/** The command of the second lens above a kernel; the server offers that lens only to a client
 * that lists the command. */
export const RUN_ITERATION_COMMAND = "tileperf.runPerfIteration";

/** One kernel's session, as it stands. */
export interface SessionState {
  readonly session: string;
  /** Qualified name. */
  readonly kernel: string;
  readonly uri: string;
  /** The kernel's name in the present text. */
  readonly range: Range;
  readonly phase: "setUp" | "ready" | "stopped" | "finished" | "abandoned";
  readonly stopReason?: string | null;
  /** Whether some process works on it now. */
  readonly running: boolean;
  /** Which one. */
  readonly holder?: string | null;
  /** The last run. */
  readonly run?: Run | null;
  readonly latency?: Latency | null;
  /** The last decision in a few words. */
  readonly verdict?: string | null;
  readonly results: readonly Result[];
  readonly measuredOn?: MeasuredOn | null;
  /** The present code is not what was measured. */
  readonly stale: boolean;
  readonly staleReason?: string | null;
  readonly failures: readonly Failure[];
  /** Markdown. */
  readonly table?: string | null;
}

/** One baseline or iteration. */
export interface Run {
  readonly run: number;
  readonly iteration: number;
  readonly kind: "baseline" | "iteration";
  /** What the change is called. */
  readonly optimization?: string | null;
  readonly stage?: Stage | null;
  readonly note?: string | null;
  /** Pairs of each configuration so far. */
  readonly pairs?: number | null;
  /** Configurations that are decided, of how many. */
  readonly decided?: number | null;
  readonly of?: number | null;
  /** RFC 3339. */
  readonly began: string;
  /** Seconds from `began` after which it is ended. */
  readonly limit: number;
  readonly state: RunState;
  /** The outcome, or what goes on, in one sentence. */
  readonly sentence: string;
}

export type Stage = "preparing" | "correctness" | "warming" | "measuring" | "deciding";

export type RunState =
  | "running"
  | "kept"
  | "reverted"
  | "crashed"
  | "noChange"
  | "cited"
  | "cancelled"
  | "interrupted"
  | "refused";

/** The total over all configurations. */
export interface Latency {
  readonly current: number;
  readonly baseline: number;
  readonly unit: Unit;
  /** Both, for people. */
  readonly text: string;
}

/** Milliseconds, or the reciprocal of a rate. */
export type Unit = "ms" | "cost";

/** One configuration of the last measurement. */
export interface Result {
  /** The whole test id. */
  readonly configuration: string;
  /** What tells it from the others: the parameter id in brackets. */
  readonly short: string;
  readonly direction?: string | null;
  readonly backend?: string | null;
  readonly base?: number | null;
  readonly candidate?: number | null;
  readonly unit: Unit;
  /** Of the base; below zero is faster. */
  readonly change?: number | null;
  /** The interval of `change`. */
  readonly low?: number | null;
  readonly high?: number | null;
  /** FASTER, SLOWER, SAME, MAYBE, AMBIGUOUS, or why there is none. */
  readonly verdict: string;
  readonly sentence?: string | null;
}

/** What the results rest on. */
export interface MeasuredOn {
  /** Which run. */
  readonly of: string;
  readonly device: string;
  /** RFC 3339. */
  readonly at: string;
  /** The fewest behind a configuration. */
  readonly pairs: number;
  /** The smallest change that can be told from noise in every configuration, as a fraction. */
  readonly detectable?: number | null;
}

/** A failing correctness test. */
export interface Failure {
  readonly uri: string;
  /** 0-based. */
  readonly line: number;
  readonly test: string;
  readonly message: string;
  /** The likely cause, from what the change touched. */
  readonly cause?: string | null;
}

/** The argument of every command; all of it optional. */
export interface CommandArgument {
  readonly uri?: string;
  readonly position?: Position;
  /** Qualified name; wins over `position`. */
  readonly kernel?: string;
  readonly session?: string;
  /** What to call the change. */
  readonly name?: string;
  /** An optimization of the playbook, and which of its ways. */
  readonly optimization?: string;
  readonly variant?: string | null;
  readonly goal?: string;
  readonly goOn?: boolean;
  readonly fix?: boolean;
  readonly device?: string;
  /** Finish with one commit for each kept iteration. */
  readonly commits?: boolean;
  /** Which kept iteration to undo. */
  readonly iteration?: number;
  readonly form?: "markdown" | "html" | "pull-request";
}

/** The answer to a command; it comes at once, a run goes on after it. */
export interface CommandAnswer {
  readonly session?: string | null;
  readonly kernel?: string | null;
  readonly message: string;
  /** A text that was asked for. */
  readonly content?: string | null;
}
