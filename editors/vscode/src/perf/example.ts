/**
 * A session as the server might tell of it, for the tests beside.
 */

import type { Result, Run, SessionState } from "./protocol";

export function exampleRun(rest: Partial<Run> = {}): Run {
  return {
    run: 4,
    iteration: 3,
    kind: "iteration",
    optimization: "occupancy=4",
    began: "2026-01-02T03:04:05Z",
    limit: 600,
    state: "kept",
    sentence: "kept: 22.68 % faster",
    ...rest,
  };
}

export function exampleResult(short: string, change: number | null, verdict: string): Result {
  return {
    configuration: `tests/ops/test_scale.py::test_perf${short}`,
    short,
    direction: "forward",
    backend: "cutile",
    base: 0.02,
    candidate: 0.02 * (1 + (change ?? 0)),
    unit: "ms",
    change,
    low: change === null ? null : change - 0.01,
    high: change === null ? null : change + 0.01,
    verdict,
  };
}

export function exampleState(rest: Partial<SessionState> = {}): SessionState {
  return {
    session: "scale_kernel-20260102",
    kernel: "scale_kernel",
    uri: "file:///w/scale.py",
    range: { start: { line: 7, character: 4 }, end: { line: 7, character: 16 } },
    phase: "ready",
    running: false,
    run: exampleRun(),
    latency: {
      current: 0.39,
      baseline: 0.82,
      unit: "ms",
      text: "0.390000 ms, 2.10x of 0.820000 ms",
    },
    verdict: "kept: 22.68 % faster",
    results: [exampleResult("[1]", -0.052, "FASTER"), exampleResult("[4]", -0.056, "FASTER")],
    stale: false,
    failures: [],
    ...rest,
  };
}

/** The same session while its run measures. */
export function exampleRunning(rest: Partial<Run> = {}): SessionState {
  const run = exampleRun({ state: "running", stage: "measuring", pairs: 60, ...rest });
  return exampleState({ running: true, run });
}
