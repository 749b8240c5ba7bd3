// The experiment loop as the window shows it: commands, results in the code, report.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Source } from "./source.mjs";
import { check, until } from "./until.mjs";

const RUN = "Run perf iteration";
const KERNEL = "row_scale_kernel";
const FILE = "src/demo/ops/cutile/row_scale.py";

/**
 * A program that plays a server with one session of the fixture's kernel.
 * @returns {{ program: string, log: string }} `log` gets a JSON line for each command
 */
export function fakeServer(host, workspace, folder) {
  const program = join(folder, "fake-server");
  const log = join(folder, "fake-server.jsonl");
  const script = join(import.meta.dirname, "fakeServer.mjs");
  const call = [join(host, "node"), script, join(workspace, FILE), log];
  writeFileSync(log, "");
  writeFileSync(program, `#!/bin/sh\nexec ${call.map((part) => `'${part}'`).join(" ")} "$@"\n`, {
    mode: 0o755,
  });
  return { program, log };
}

/** Every state of a run, played by the fake server. @param {string} log from `fakeServer` */
export function perfChecks(workspace, log) {
  const kernel = new Source(workspace, FILE);
  const definition = kernel.place(`def ${KERNEL}(`, KERNEL);
  const sent = () =>
    readFileSync(log, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));

  return [
    [
      "results stand at the end of the kernel's line: latency, verdict, three changes",
      async (w) => {
        await w.open(kernel.path, definition);
        await resultsAre(
          w,
          "stale · 0.390000 ms, 2.10x of 0.820000 ms · kept: 5.41 % faster · " +
            "[1] −5.2 % FASTER, [2] −5.6 % FASTER, [4] −5.1 % FASTER, +2",
        );
      },
    ],
    [
      "hovering over the results shows every configuration, why they are stale, and the report",
      async (w) => {
        const text = await w.hoverAfter(KERNEL, "a hover over the results");
        for (const part of [/iteration 1: twice/, /row_scale\.py was edited/, /Report/]) {
          check(part.test(text), `the hover does not match ${part}: ${text}`);
        }
        for (const name of ["[1]", "[2]", "[4]", "[8]", "[16|x]"]) {
          check(text.includes(name), `the hover does not name ${name}: ${text}`);
        }
        check(/0\.400000 ms\s+0\.379200 ms\s+−5\.2 % \(−6\.2 % to −4\.2 %\)/.test(text), text);
      },
    ],
    [
      "the results move with the kernel while it is typed above",
      async (w) => {
        await w.open(kernel.path);
        await w.page.keyboard.insertText("# one\n# two\n");
        await until(
          "the results beside the moved kernel",
          async () => {
            const lines = await w.lineEnds();
            const line = lines.find(({ after }) => after !== "");
            return line?.text.startsWith(`def ${KERNEL}(`);
          },
          { seen: () => w.lineEnds() },
        );
      },
    ],
    [
      "the lens runs an iteration of its kernel, on what was typed, because it is saved first",
      async (w) => {
        await w.page.locator(".codelens-decoration a", { hasText: RUN }).click();
        const call = await until("the command at the server", () => sent().at(-1));
        check(call.command === "tileperf.runPerfIteration", JSON.stringify(call));
        check(call.argument.kernel === KERNEL, JSON.stringify(call.argument));
        check(call.disk.startsWith("# one\n# two\n"), "the file was not saved before the command");
      },
    ],
    [
      "while it runs, the line and the status item tell the stage",
      async (w) => {
        const stage = "iteration 2: measuring, 60 pairs, 2 of 5 decided";
        await w.statusIs(new RegExp(`^tileperf: ${stage}$`));
        await resultsAre(w, `${stage} · 0.390000 ms, 2.10x of 0.820000 ms`);
      },
    ],
    [
      "the palette runs it at the cursor, and shows the server's refusal in its words",
      async (w) => {
        await w.command(`tileperf: ${RUN}`);
        await notified(w, /another run goes on: iteration 2 of row_scale_kernel/);
        const { argument } = sent().at(-1);
        check(argument.uri.endsWith("/row_scale.py"), JSON.stringify(argument));
        check(typeof argument.position?.line === "number", JSON.stringify(argument));
      },
    ],
    [
      "stopping it is said, with its outcome and the way to the report",
      async (w) => {
        await w.command("tileperf: Stop Perf Session");
        await notified(w, /Show Report\s+row_scale_kernel, iteration 2: stopped before a result/);
        await w.statusIs(/^tileperf: 1 kernel$/);
      },
    ],
    [
      "the report opens beside the code, and no script of it runs",
      async (w) => {
        await w.command("tileperf: Show Perf Report");
        await reportShows(w, `Report of ${KERNEL}`, /no script ran/);
      },
    ],
    [
      "the context menu of the editor offers the iteration",
      async (w) => {
        await w.command("View: Close All Editors");
        await w.open(kernel.path, { line: definition.line + 2, column: 5 });
        await until(`"${RUN}" in the context menu`, async () => {
          await w.page.keyboard.press("Escape");
          await w.page.keyboard.press("Shift+F10");
          return w.contextMenuHas(RUN);
        });
      },
    ],
  ];
}

/** Waits for the kernel's line to end in `text`. */
export async function resultsAre(w, text) {
  let seen;
  const matches = (after) => (text instanceof RegExp ? text.test(after) : after === text);
  await until(
    `the results "${text}"`,
    async () => {
      seen = (await w.lineEnds()).filter(({ after }) => after !== "");
      return seen.length === 1 && matches(seen[0].after);
    },
    { seen: () => seen },
  );
}

/** Waits for a panel with a page that has `title` as its heading and matches `pattern`. */
export async function reportShows(w, title, pattern) {
  let seen = "";
  await until(
    `a report titled "${title}"`,
    async () => {
      const pages = await w.webviews();
      seen = pages.join("\n----\n");
      return pages.some((page) => page.includes(title) && pattern.test(page));
    },
    { seen: () => seen },
  );
}

async function notified(w, pattern) {
  let seen = [];
  await until(
    `a notification that matches ${pattern}`,
    async () => {
      seen = await w.notifications();
      return seen.some((text) => pattern.test(text));
    },
    { seen: () => seen },
  );
}
