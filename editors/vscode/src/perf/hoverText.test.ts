import assert from "node:assert/strict";
import { test } from "node:test";
import { exampleResult, exampleRun, exampleRunning, exampleState } from "./example";
import { hoverText, resultTable } from "./hoverText";

test("every configuration is a row, with values, interval and verdict", () => {
  assert.equal(
    resultTable([exampleResult("[1]", -0.052, "FASTER"), exampleResult("[4]", null, "SKIPPED")]),
    [
      "| Configuration | Base | Candidate | Change | Verdict |",
      "|:--|--:|--:|--:|:--|",
      "| \\[1\\] | 0.020000 ms | 0.018960 ms | −5.2 % (−6.2 % to −4.2 %) | FASTER |",
      "| \\[4\\] | 0.020000 ms | 0.020000 ms | – | SKIPPED |",
    ].join("\n"),
  );
});

test("a baseline shows its values and no change", () => {
  const [, , row] = resultTable([exampleResult("[1]", 0, "BASELINE")]).split("\n");
  assert.equal(row, "| \\[1\\] | 0.020000 ms | 0.020000 ms | – | BASELINE |");
});

test("names of tests stay inside their cell and become no command", () => {
  const short = "[x|y](command:evil)\n<b>";
  const [, , row] = resultTable([exampleResult(short, 0, "SAME")]).split("\n");
  assert.ok(row?.startsWith("| \\[x\\|y\\](command:evil) \\<b\\> | "), row);
});

test("kernel, change, sentence, latency, then the table", () => {
  const text = hoverText(exampleState());
  assert.match(
    text,
    /^\*\*scale\\_kernel\*\* · iteration 3: occupancy=4\n\nkept: 22\.68 % faster\n\n/,
  );
  assert.match(text, /\n\n0\.390000 ms, 2\.10x of 0\.820000 ms\n\n\| Configuration /);
  assert.doesNotMatch(text, /Stale|Stopped|Failing/);
});

test("below the table: what it rests on", () => {
  const on = { of: "iteration 3", device: "NVIDIA H200", at: "2026-01-02T03:04:05.6Z", pairs: 30 };
  assert.match(
    hoverText(exampleState({ measuredOn: { ...on, detectable: 0.0213 } })),
    /\n\nMeasured in iteration 3, on NVIDIA H200, 2026-01-02 03:04 UTC: 30 pairs or more; changes of 2\.1 % and more can be told from noise\.$/,
  );
  assert.match(hoverText(exampleState({ measuredOn: on })), /: 30 pairs or more\.$/);
});

test("the server's table fills in where nothing was compared", () => {
  const text = hoverText(exampleState({ results: [], table: "| a |\n|:--|\n| 1 |" }));
  assert.match(text, /\n\n\| a \|\n\|:--\|\n\| 1 \|$/);
});

test("why results are stale, why the session stopped, which tests fail and the likely cause", () => {
  const failures = [
    { uri: "file:///w/t.py", line: 3, test: "test_op[1]", message: "nan", cause: "flush-to-zero" },
    { uri: "file:///w/t.py", line: 9, test: "test_op[2]", message: "nan" },
  ];
  const rest = {
    stale: true,
    staleReason: "scale.py was edited",
    phase: "stopped",
    failures,
  } as const;
  const text = hoverText(exampleState({ ...rest, stopReason: "goal reached" }));
  assert.match(text, /\n\n\*\*Stale\*\*: scale\.py was edited\n\n/);
  assert.match(
    text,
    /\n- test\\_op\\\[1\\\]: nan \(likely cause: flush-to-zero\)\n- test\\_op\\\[2\\\]: nan\n/,
  );
  assert.match(text, /\n\nStopped: goal reached$/);
});

test("a run that goes on is told by its stage, one that does not by its sentence", () => {
  assert.match(hoverText(exampleRunning()), /\n\niteration 3: measuring, 60 pairs\.\n\n/);
  const gone = { ...exampleRunning({ sentence: "its process is gone" }), running: false };
  assert.match(hoverText(gone), /\n\nits process is gone\n\n/);
  assert.match(hoverText(exampleState({ run: exampleRun({ kind: "baseline" }) })), / · baseline/);
});
