import assert from "node:assert/strict";
import { test } from "node:test";
import { exampleResult, exampleRun, exampleRunning, exampleState } from "./example";
import { inline } from "./inlineText";

test("latency, verdict and changes stand in one line", () => {
  assert.deepEqual(inline(exampleState()), {
    text:
      "0.390000 ms, 2.10x of 0.820000 ms · kept: 22.68 % faster · " +
      "[1] −5.2 % FASTER, [4] −5.6 % FASTER",
    tone: "better",
    stale: false,
  });
});

test("three configurations are shown, what got slower first, the rest is counted", () => {
  const results = [1, 2, 3, 4, 5].map((n) => exampleResult(`[${n}]`, -0.05, "FASTER"));
  results.push(exampleResult("[6]", 0.04, "SLOWER"));
  const text = inline(exampleState({ results }))?.text;
  assert.match(
    text ?? "",
    / · \[6\] \+4\.0 % SLOWER, \[1\] −5\.0 % FASTER, \[2\] −5\.0 % FASTER, \+3$/,
  );
});

test("a configuration without a change says its verdict alone, a long name is cut", () => {
  const results = [exampleResult("[a-very-long-parameter-id-of-a-test]", null, "VANISHED")];
  const text = inline(exampleState({ results }))?.text ?? "";
  assert.match(text, / · \[a-very-long-parameter-id-o… VANISHED$/);
});

test("a baseline is compared with nothing: its configurations say what they took", () => {
  const run = exampleRun({ kind: "baseline", sentence: "The baseline is measured." });
  const results = [exampleResult("[1]", 0, "BASELINE")];
  const text = inline(exampleState({ run, latency: null, verdict: null, results }))?.text;
  assert.equal(text, "The baseline is measured · [1] 0.020000 ms");
});

test("stale results say so first and are dimmed", () => {
  const line = inline(exampleState({ stale: true }));
  assert.match(line?.text ?? "", /^stale · 0\.390000 ms/);
  assert.equal(line?.stale, true);
});

test("while a run goes on: its stage, the last latency, no old changes, nothing stale", () => {
  assert.deepEqual(inline({ ...exampleRunning(), stale: true }), {
    text: "iteration 3: measuring, 60 pairs · 0.390000 ms, 2.10x of 0.820000 ms",
    tone: "running",
    stale: false,
  });
});

test("a run whose process is gone is not shown as running", () => {
  const line = inline({
    ...exampleRunning({ sentence: "interrupted" }),
    running: false,
    verdict: null,
  });
  assert.match(line?.text ?? "", / · interrupted · \[1\]/);
});

test("a crash without any measurement shows its reason and the failing tests", () => {
  const failure = { uri: "file:///w/t.py", line: 3, test: "test_op", message: "0 != 1" };
  const run = exampleRun({ state: "crashed", sentence: "crashed: out of\nmemory" });
  const line = inline(
    exampleState({ latency: null, verdict: null, results: [], run, failures: [failure, failure] }),
  );
  assert.deepEqual(line, {
    text: "crashed: out of memory · 2 tests fail",
    tone: "worse",
    stale: false,
  });
});

test("a session that has only been set up shows nothing", () => {
  const state = exampleState({ run: null, latency: null, verdict: null, results: [] });
  assert.equal(inline(state), undefined);
});
