import assert from "node:assert/strict";
import { test } from "node:test";
import { exampleRunning } from "./perf/example";
import type { ServerInfo, ServerStatus } from "./protocol";
import { count, statusView, type ServerState } from "./status";

function running(status: ServerStatus, info?: ServerInfo): ServerState {
  const server = { origin: "bundled", path: "/extension/bin/tileperf" } as const;
  return { kind: "running", server, version: "0.1.0", status, info };
}

test("no item before the server is awake", () => {
  assert.equal(statusView({ kind: "starting" }, true, []), undefined);
  assert.equal(statusView(running({ state: "dormant" }), true, []), undefined);
});

test("ready: the number of kernels, and in the tooltip files, version, origin and path", () => {
  const view = statusView(running({ state: "ready", kernels: 12, files: 203 }), true, []);
  assert.equal(view?.text, "tileperf: 12 kernels");
  assert.equal(view.severity, "ordinary");
  for (const part of ["203 Python files", "0.1.0", "bundled", "/extension/bin/tileperf"]) {
    assert.ok(view.tooltip.includes(part), `no ${part} in: ${view.tooltip}`);
  }
});

test("no kernel anywhere is said, with how many files were searched", () => {
  const view = statusView(running({ state: "ready", kernels: 0, files: 7 }), true, []);
  assert.equal(view?.text, "tileperf: no kernels");
  assert.match(view.tooltip, /No cuTile kernel was found in 7 Python files/);
});

test("while indexing the count is not shown, because it is not known yet", () => {
  const view = statusView(running({ state: "indexing", kernels: 3, files: 10 }), true, []);
  assert.equal(view?.text, "$(sync~spin) tileperf: indexing");
});

test("an absent server is an error with its reason", () => {
  const view = statusView({ kind: "failed", problem: "nothing on PATH" }, true, []);
  assert.equal(view?.severity, "error");
  assert.match(view.tooltip, /nothing on PATH/);
});

test("the server's own message wins over the general one", () => {
  const view = statusView(running({ state: "error", message: "disk full" }), true, []);
  assert.equal(view?.severity, "error");
  assert.match(view.tooltip, /disk full/);
});

test("a wrong setting turns the item into a warning and is spelled out", () => {
  const info = { problems: ["unknown key `hovr`", { message: "arch must be a list" }] };
  const view = statusView(running({ state: "ready", kernels: 1 }, info), true, []);
  assert.equal(view?.text, "$(warning) tileperf: 1 kernel");
  assert.equal(view.severity, "warning");
  assert.match(view.tooltip, /hovr/);
  assert.match(view.tooltip, /arch must be a list/);
});

test("what is switched off and what trust withholds are said", () => {
  const view = statusView(running({ state: "ready", kernels: 1 }), false, ["codeLens", "hover"]);
  assert.match(view?.tooltip ?? "", /Switched off: `codeLens`, `hover`/);
  assert.match(view?.tooltip ?? "", /Restricted mode/);
});

test("text from the server cannot become a link or a command in the tooltip", () => {
  const message = "[run](command:evil) <b>`x`";
  const view = statusView(running({ state: "ready", message }), true, []);
  assert.ok(view?.tooltip.includes("\\[run\\](command:evil) \\<b\\>\\`x\\`"), view?.tooltip);
});

test("counts", () => {
  assert.equal(count(0, "kernel"), "no kernels");
  assert.equal(count(undefined, "kernel"), "no kernels");
  assert.equal(count(1, "kernel"), "1 kernel");
  assert.equal(count(2, "kernel"), "2 kernels");
});

test("a run is named in the item and told in the tooltip, several are counted", () => {
  const ready = running({ state: "ready", kernels: 1 });
  const one = statusView(ready, true, [], [exampleRunning()]);
  assert.equal(one?.text, "$(sync~spin) tileperf: iteration 3: measuring, 60 pairs");
  assert.match(one.tooltip, /\*\*scale\\_kernel\*\* iteration 3: measuring, 60 pairs/);
  const two = statusView(ready, true, [], [exampleRunning(), exampleRunning()]);
  assert.equal(two?.text, "$(sync~spin) tileperf: 2 perf runs");
});

test("a process that has not begun its run yet is starting", () => {
  const state = { ...exampleRunning({ state: "kept" }), running: true };
  const view = statusView(running({ state: "ready" }), true, [], [state]);
  assert.equal(view?.text, "$(sync~spin) tileperf: starting");
});
