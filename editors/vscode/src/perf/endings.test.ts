import assert from "node:assert/strict";
import { test } from "node:test";
import { Endings } from "./endings";
import { exampleRun, exampleRunning, exampleState } from "./example";

const SESSION = "scale_kernel-20260102";
const old = exampleState({ run: exampleRun({ run: 3, iteration: 2 }) });

test("the end of a run that was begun here is told once", () => {
  const endings = new Endings();
  endings.begun(SESSION, "scale_kernel", old);
  assert.equal(endings.hear(old), undefined, "the run before it is no news");
  assert.equal(endings.hear(exampleRunning()), undefined);
  assert.deepEqual(endings.hear(exampleState()), {
    session: SESSION,
    text: "scale_kernel, iteration 3: kept: 22.68 % faster",
    warns: false,
  });
  assert.equal(endings.hear(exampleState()), undefined);
});

test("a run in a terminal is not told", () => {
  const endings = new Endings();
  endings.hear(exampleRunning());
  assert.equal(endings.hear(exampleState()), undefined);
});

test("a baseline in front of an iteration is no end", () => {
  const endings = new Endings();
  endings.begun(undefined, "scale_kernel", undefined);
  const baseline = exampleRun({ run: 0, iteration: 0, kind: "baseline", state: "kept" });
  assert.equal(endings.hear(exampleState({ running: true, run: baseline })), undefined);
  assert.equal(endings.hear(exampleRunning({ run: 1, iteration: 1 })), undefined);
  const done = exampleState({ run: exampleRun({ run: 1, iteration: 1, state: "crashed" }) });
  assert.equal(endings.hear(done)?.warns, true);
});

test("a run that was over before it was seen is told all the same", () => {
  const endings = new Endings();
  endings.begun(SESSION, "scale_kernel", old);
  const run = exampleRun({ state: "refused", sentence: "no usable GPU" });
  assert.match(endings.hear(exampleState({ run }))?.text ?? "", /: no usable GPU$/);
});

test("whoever cancels knows it", () => {
  const endings = new Endings();
  endings.begun(SESSION, "scale_kernel", old);
  endings.hear(exampleRunning());
  assert.equal(endings.hear(exampleState({ run: exampleRun({ state: "cancelled" }) })), undefined);
  assert.equal(endings.hear(exampleState()), undefined, "and it is awaited no longer");
});
