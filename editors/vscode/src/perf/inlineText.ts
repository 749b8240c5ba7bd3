/**
 * The one line at the end of a kernel's `def`: latency, verdict, changes.
 */

import type { Result, RunState, SessionState } from "./protocol";
import { compared, labels, measure, percent, progress } from "./words";

/** What the line says and how it looks. */
export interface Inline {
  readonly text: string;
  readonly tone: Tone;
  /** The code is not what was measured: dimmed. */
  readonly stale: boolean;
}

export type Tone = "better" | "worse" | "neutral" | "running";

/** How many configurations fit into the line; the hover has all of them. */
const CONFIGURATIONS = 3;
/** Test ids can be paragraphs. */
const LABEL_LENGTH = 28;
/** So can the reasons of a refusal. */
const OUTCOME_LENGTH = 80;

const TONES: Record<RunState, Tone> = {
  running: "running",
  kept: "better",
  reverted: "worse",
  crashed: "worse",
  refused: "worse",
  interrupted: "worse",
  noChange: "neutral",
  cited: "neutral",
  cancelled: "neutral",
};

/** The line of a session, or undefined while there is nothing to say. */
export function inline(state: SessionState): Inline | undefined {
  const { run, latency } = state;
  const parts: string[] = [];
  const running = state.running && run?.state === "running";
  if (running) {
    parts.push(progress(run));
  }
  if (latency) {
    parts.push(latency.text);
  }
  if (!running) {
    const outcome = state.verdict ?? run?.sentence.replace(/\.$/, "");
    if (outcome) {
      parts.push(shorten(outcome, OUTCOME_LENGTH));
    }
    if (state.failures.length > 0) {
      parts.push(
        state.failures.length === 1 ? "1 test fails" : `${state.failures.length} tests fail`,
      );
    }
    // Last, because the window cuts off what is too long for it.
    const changes = configurations(state);
    if (changes) {
      parts.push(changes);
    }
  }
  if (parts.length === 0) {
    return undefined;
  }
  // A run measures what was saved when it began; what was typed since does not make it stale yet.
  const stale = state.stale && !running;
  const text = [...(stale ? ["stale"] : []), ...parts].join(" · ").replace(/\s+/g, " ");
  return { text, tone: running ? "running" : run ? TONES[run.state] : "neutral", stale };
}

/** "[1] −5.2 % FASTER, [4] −5.6 % FASTER, +6"; what got slower comes first, for it decides. */
function configurations({ results }: SessionState): string {
  const names = labels(results);
  const all = results.map((result, index) => ({ result, name: names[index] ?? result.short }));
  const slower = all.filter(({ result }) => result.verdict === "SLOWER");
  const others = all.filter(({ result }) => result.verdict !== "SLOWER");
  const shown = [...slower, ...others].slice(0, CONFIGURATIONS).map(({ result, name }) => {
    return `${shorten(name, LABEL_LENGTH)} ${outcomeOf(result)}`;
  });
  const more = results.length - shown.length;
  return [...shown, ...(more > 0 ? [`+${more}`] : [])].join(", ");
}

/** "−5.2 % FASTER", or what a baseline took. */
function outcomeOf(result: Result): string {
  if (compared(result)) {
    return `${percent(result.change)} ${result.verdict}`;
  }
  const first = result.verdict === "BASELINE" && typeof result.candidate === "number";
  return first ? measure(result.candidate, result.unit) : result.verdict;
}

function shorten(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}
