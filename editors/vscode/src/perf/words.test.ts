import assert from "node:assert/strict";
import { test } from "node:test";
import { exampleResult, exampleRun } from "./example";
import { labels, measure, percent, progress } from "./words";

test("changes have a sign of their own and one decimal", () => {
  assert.equal(percent(-0.0521), "−5.2 %");
  assert.equal(percent(0.0105), "+1.1 %");
  assert.equal(percent(-0.0004), "0.0 %", "what rounds to nothing has no direction");
  assert.equal(percent(-0.0005), "−0.1 %");
});

test("milliseconds have six decimals, as in the table", () => {
  assert.equal(measure(0.39, "ms"), "0.390000 ms");
  assert.equal(measure(1 / 812.5, "cost"), "0.00123077");
});

test("progress: stage, and what is known of it", () => {
  assert.equal(progress(exampleRun()), "iteration 3: starting");
  assert.equal(
    progress(exampleRun({ kind: "baseline", iteration: 0, stage: "correctness", note: "base" })),
    "baseline: correctness, base",
  );
  assert.equal(
    progress(exampleRun({ stage: "measuring", pairs: 60, decided: 2, of: 9, note: "late" })),
    "iteration 3: measuring, 60 pairs, 2 of 9 decided",
  );
  assert.equal(progress(exampleRun({ stage: "warming" })), "iteration 3: starting the benchmark");
});

test("direction and backend are named only where they tell configurations apart", () => {
  const one = exampleResult("[1]", 0, "SAME");
  assert.deepEqual(labels([one, exampleResult("[4]", 0, "SAME")]), ["[1]", "[4]"]);
  assert.deepEqual(labels([one, { ...one, direction: "backward" }]), [
    "[1] forward",
    "[1] backward",
  ]);
  assert.deepEqual(labels([one, { ...one, backend: null }]), ["[1] cutile", "[1]"]);
});
