import assert from "node:assert/strict";
import { test } from "node:test";
import { endServer, runToEnd, settles, startServer } from "./process";

const NODE = process.execPath;

test("what a program prints is returned", async () => {
  assert.equal(await runToEnd(NODE, ["--version"], "/"), `${process.version}\n`);
});

test("a failing program is told by its own words", async () => {
  const script = "console.error('no GPU, no fun'); process.exit(3)";
  await assert.rejects(runToEnd(NODE, ["-e", script], "/"), /^Error: no GPU, no fun \(3\)$/);
});

test("a missing program is told", async () => {
  await assert.rejects(runToEnd("/nowhere/tileperf", [], "/"), /ENOENT/);
});

test("a server that cannot start is gone with the reason, and nothing throws", async () => {
  const server = startServer("/nowhere/tileperf", "/", () => undefined);
  assert.match(await server.gone, /ENOENT/);
});

test("the server's words reach the log line by line, its exit is told", async () => {
  const lines: string[] = [];
  // Node, asked to run a script named "lsp", fails and says so on standard error.
  const server = startServer(NODE, "/", (line) => lines.push(line));
  assert.equal(await server.gone, "exit code 1");
  assert.ok(
    lines.some((line) => line.includes("Cannot find module")),
    lines.join("\n"),
  );
});

test("a server that does not leave is ended", { skip: process.platform === "win32" }, async () => {
  // `yes lsp` writes for ever and ignores its input.
  const server = startServer("/usr/bin/yes", "/", () => undefined);
  await endServer(server, 20);
  assert.equal(await server.gone, "ended by SIGKILL");
});

test("settles tells a settled promise, kept or broken, from one that hangs", async () => {
  assert.equal(await settles(Promise.resolve(), 1000), true);
  assert.equal(await settles(Promise.reject(new Error("broken")), 1000), true);
  assert.equal(await settles(new Promise(() => undefined), 10), false);
});
