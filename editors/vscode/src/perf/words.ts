/**
 * How numbers and stages of the experiment loop read.
 */

import type { Result, Run, Stage, Unit } from "./protocol";

/** `-0.0521` as "−5.2 %". */
export function percent(fraction: number): string {
  const digits = Math.abs(fraction * 100).toFixed(1);
  if (digits === "0.0") {
    return "0.0 %";
  }
  return `${fraction < 0 ? "−" : "+"}${digits} %`;
}

/** A measured value. Six decimals of a millisecond, as in the table of results. */
export function measure(value: number, unit: Unit): string {
  return unit === "ms" ? `${value.toFixed(6)} ms` : value.toPrecision(6);
}

/** "iteration 3" or "baseline". */
export function runName(run: Run): string {
  return run.kind === "baseline" ? "baseline" : `iteration ${run.iteration}`;
}

const STAGES: Record<Stage, string> = {
  preparing: "preparing",
  correctness: "correctness",
  warming: "starting the benchmark",
  measuring: "measuring",
  deciding: "deciding",
};

/** Whether a result is compared with something: a baseline is the first of its kind. */
export function compared(result: Result): result is Result & { readonly change: number } {
  return typeof result.change === "number" && result.verdict !== "BASELINE";
}

/** "iteration 3: measuring, 60 pairs, 2 of 9 decided". */
export function progress(run: Run): string {
  const parts: string[] = [run.stage ? STAGES[run.stage] : "starting"];
  if (run.stage === "measuring") {
    if (typeof run.pairs === "number") {
      parts.push(`${run.pairs} pairs`);
    }
    if (typeof run.decided === "number" && typeof run.of === "number") {
      parts.push(`${run.decided} of ${run.of} decided`);
    }
  } else if (run.note) {
    parts.push(run.note);
  }
  return `${runName(run)}: ${parts.join(", ")}`;
}

/**
 * What to call each of `results`, in their order: the short name, with direction and backend where
 * these tell two of them apart.
 */
export function labels(results: readonly Result[]): string[] {
  const several = (value: (result: Result) => string | null | undefined): boolean =>
    new Set(results.map((result) => value(result) ?? "")).size > 1;
  const byDirection = several((result) => result.direction);
  const byBackend = several((result) => result.backend);
  return results.map((result) =>
    [result.short, byDirection ? result.direction : null, byBackend ? result.backend : null]
      .filter((part) => typeof part === "string" && part !== "")
      .join(" "),
  );
}
