import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { VERBS } from "./verbs";

interface Manifest {
  contributes: {
    commands: { command: string; category: string; title: string }[];
    menus: Record<string, { command: string; when?: string }[]>;
  };
}

const { contributes } = JSON.parse(readFileSync("package.json", "utf8")) as Manifest;

test("the manifest has a command for each verb, and no other perf command", () => {
  const listed = contributes.commands.map(({ command }) => command);
  assert.deepEqual(
    listed.filter((command) => /^tileperf\.(perf\.|runPerf)/.test(command)),
    VERBS.map(({ command }) => command),
  );
});

test("what needs an optimization is not in the palette, where none can be named", () => {
  const hidden = contributes.menus.commandPalette?.filter(({ when }) => when === "false");
  assert.deepEqual(
    hidden?.map(({ command }) => command),
    ["tileperf.perf.apply"],
  );
});

test("the iteration is titled as the guides and the lens title it, in palette and menu", () => {
  const run = contributes.commands.find(({ command }) => command === "tileperf.runPerfIteration");
  assert.deepEqual(run && [run.category, run.title], ["tileperf", "Run perf iteration"]);
  const menu = contributes.menus["editor/context"]?.map(({ command }) => command);
  assert.ok(menu?.includes("tileperf.runPerfIteration"));
});
