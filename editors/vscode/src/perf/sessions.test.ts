import assert from "node:assert/strict";
import { test } from "node:test";
import { exampleRun, exampleRunning, exampleState } from "./example";
import { leading, Sessions } from "./sessions";

const names = (states: readonly { session: string }[]): string[] =>
  states.map(({ session }) => session).sort();

test("the last state of a session is the one that counts", () => {
  const sessions = new Sessions();
  sessions.hear(exampleRunning());
  assert.deepEqual(names(sessions.running()), ["scale_kernel-20260102"]);
  sessions.hear(exampleState());
  assert.deepEqual(sessions.running(), []);
  assert.equal(sessions.get("scale_kernel-20260102")?.running, false);
  assert.equal(sessions.all().length, 1);
});

test("an answer replaces what is known, sessions that are gone included", () => {
  const sessions = new Sessions();
  sessions.hear(exampleState({ session: "gone" }));
  sessions.replace([exampleState({ session: "there" })], sessions.now());
  assert.deepEqual(names(sessions.all()), ["there"]);
});

test("what was heard while the answer was on its way is newer than the answer", () => {
  const sessions = new Sessions();
  sessions.hear(exampleRunning());
  const asked = sessions.now();
  sessions.hear(exampleState());
  sessions.replace([exampleRunning()], asked);
  assert.equal(sessions.get("scale_kernel-20260102")?.running, false);
});

test("an answer about one document leaves the others alone", () => {
  const sessions = new Sessions();
  sessions.hear(exampleState({ session: "a", uri: "file:///a.py" }));
  sessions.hear(exampleState({ session: "b", uri: "file:///b.py" }));
  sessions.replace([], sessions.now(), (uri) => uri === "file:///a.py");
  assert.deepEqual(names(sessions.all()), ["b"]);
});

test("a kernel shows the session at work, else an open one, else the last; none given up", () => {
  const at = (session: string, began: string, rest: object): ReturnType<typeof exampleState> =>
    exampleState({ session, run: exampleRun({ began }), ...rest });
  const abandoned = at("abandoned", "2026-01-09", { phase: "abandoned" });
  const old = at("old", "2026-01-01", { phase: "finished" });
  const done = at("done", "2026-01-05", { phase: "finished" });
  const open = at("open", "2026-01-02", { phase: "stopped" });
  const busy = at("busy", "2026-01-01", { running: true });
  const other = at("other", "2026-01-01", { kernel: "other_kernel" });
  assert.deepEqual(names(leading([abandoned])), []);
  assert.deepEqual(names(leading([old, done, abandoned])), ["done"]);
  assert.deepEqual(names(leading([open, done])), ["open"]);
  assert.deepEqual(names(leading([busy, open, done, other])), ["busy", "other"]);
});
