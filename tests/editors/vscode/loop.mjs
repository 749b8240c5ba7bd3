// The experiment loop with the real server: a session that the workspace holds already, and runs
// that really test and time.

import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { FILE, KERNEL } from "./gym.mjs";
import { reportShows, resultsAre } from "./perf.mjs";
import { Source } from "./source.mjs";
import { check, until } from "./until.mjs";

/** How long a baseline and an iteration may take on a slow, busy machine. */
const RUN_MS = 180_000;

/** A session from another machine: nothing runs here. @param {string} root with `writeJournal` */
export function journalChecks(root) {
  const kernel = new Source(root, FILE);
  const definition = kernel.place(`def ${KERNEL}(`, KERNEL);
  const results =
    /^0\.400000 ms, 1\.25x of 0\.500000 ms · kept: 20\.00 % faster · \[16.*\] −20\.0 % FASTER, \[1024.*\] −20\.0 % FASTER$/;

  return [
    [
      "what a session of the workspace has measured stands at its kernel",
      async (w) => {
        await w.open(kernel.path, definition);
        await resultsAre(w, results);
      },
    ],
    [
      "the lenses tell the same and offer the next iteration",
      async (w) => {
        let seen;
        await until(
          "lenses with the latency and the command",
          async () => {
            seen = (await w.lenses()).map(({ text }) => text).join("\n");
            return (
              /0\.400000 ms.*kept: 20\.00 % faster/.test(seen) && /Run perf iteration/.test(seen)
            );
          },
          { seen: () => seen },
        );
      },
    ],
    [
      "hovering over the kernel's name shows each configuration and where it was measured",
      async (w) => {
        const card = await w.hover(KERNEL, "a hover over the kernel");
        for (const part of [/0\.500000/, /0\.400000/, /FASTER/, /CPU/]) {
          check(part.test(card), `the card does not match ${part}: ${card}`);
        }
      },
    ],
    [
      "typing in the kernel makes the results stale, undoing it makes them current again",
      async (w) => {
        const body = kernel.place("ct.store(y,");
        await w.open(kernel.path, { line: body.line, column: 1 });
        await w.page.keyboard.press("End");
        await w.page.keyboard.insertText("; tile = tile * 2");
        await resultsAre(w, /^stale · 0\.400000 ms/);
        await until(
          "results that are not stale",
          async () => {
            await w.page.keyboard.press("Control+Z");
            return (await w.lineEnds()).some(({ after }) => results.test(after));
          },
          { seen: () => w.lineEnds() },
        );
      },
    ],
    [
      "the report of the session opens in a panel",
      async (w) => {
        await w.open(kernel.path, definition);
        await w.command("tileperf: Show Perf Report");
        await reportShows(w, KERNEL, /SMALL = 40[^]*0\.400000/);
      },
    ],
  ];
}

/**
 * Runs that really test and time.
 * @param {{ server: string, python: string, environment: Record<string, string> }} how
 */
export function loopChecks(root, { server, python, environment }) {
  const kernel = new Source(root, FILE);
  const small = kernel.place("SMALL = 40");
  const definition = kernel.place(`def ${KERNEL}(`, KERNEL);

  return [
    [
      "a faster kernel, typed and run by its lens, is kept",
      async (w) => {
        await w.open(kernel.path, small);
        await w.page.keyboard.press("End");
        await w.page.keyboard.press("Backspace");
        await w.page.keyboard.press("Backspace");
        await w.page.keyboard.insertText("20");
        await w.page.locator(".codelens-decoration a", { hasText: "Run perf iteration" }).click();
        await w.statusIs(/^tileperf: (starting|baseline|iteration 1)/);
        await outcomeIs(w, /ms, \d\.\d\dx of .* · kept: \d+\.\d\d % faster/);
        check(readFileSync(kernel.path, "utf8").includes("SMALL = 20"), "the edit is gone");
        await w.statusIs(/^tileperf: 1 kernel$/);
      },
    ],
    [
      "a wrong kernel is taken back, and the failing assertion is marked",
      async (w) => {
        const offset = kernel.place("offset = 0");
        await w.open(kernel.path, offset);
        await w.page.keyboard.press("End");
        await w.page.keyboard.press("Backspace");
        await w.page.keyboard.insertText("1");
        await w.command("tileperf: Run perf iteration");
        await outcomeIs(w, /reverted: \d tests? fails?/);
        await until("the file to be as it was kept", () =>
          readFileSync(kernel.path, "utf8").includes("offset = 0"),
        );
        const test = new Source(root, "tests/ops/test_scale.py");
        await w.open(test.path, test.place("assert scale("));
        await until(
          "a squiggle in the test",
          async () => (await w.page.locator(".squiggly-error").count()) > 0,
        );
      },
    ],
    [
      "a run started in a terminal shows while it goes on, and when it has ended",
      async (w) => {
        await w.open(kernel.path, definition);
        const text = readFileSync(kernel.path, "utf8").replace("LARGE = 80", "LARGE = 40");
        writeFileSync(kernel.path, text);
        const args = ["perf", "iterate", `${FILE}:${KERNEL}`, "--trust"];
        const child = spawn(server, [...args, "--config", `python.path=${python}`], {
          cwd: root,
          env: { ...process.env, ...environment },
          stdio: "ignore",
        });
        await w.statusIs(/^tileperf: iteration 3: /);
        await outcomeIs(w, /kept: \d+\.\d\d % faster/);
        await until("the run in the terminal to end", () => child.exitCode !== null);
        check(child.exitCode === 0, `the run ended with exit code ${child.exitCode}`);
      },
    ],
    [
      "after a reload of the window the results are there again",
      async (w) => {
        await w.page.reload();
        await w.ready();
        await w.open(kernel.path, definition);
        await resultsAre(w, /kept: \d+\.\d\d % faster/);
      },
    ],
    [
      "a run that is stopped leaves the change in the file, unmeasured",
      async (w) => {
        await w.open(kernel.path, small);
        await w.page.keyboard.press("End");
        await w.page.keyboard.insertText(" - 1");
        await w.command("tileperf: Run perf iteration");
        await w.statusIs(/^tileperf: iteration 4: /);
        await w.command("tileperf: Stop Perf Session");
        await w.statusIs(/^tileperf: 1 kernel$/);
        check(readFileSync(kernel.path, "utf8").includes("SMALL = 20 - 1"), "the change is gone");
        await w.command("tileperf: Show Perf Report");
        await reportShows(w, KERNEL, /stopped/i);
      },
    ],
  ];
}

/** Waits for a run to end in results that match; results of an earlier one stand until it begins. */
async function outcomeIs(w, pattern) {
  let seen;
  await until(
    `results that match ${pattern}`,
    async () => {
      seen = (await w.lineEnds()).map(({ after }) => after).find((after) => after !== "");
      return seen !== undefined && pattern.test(seen) && !/^\w+ ?\d*: /.test(seen);
    },
    { limit: RUN_MS, seen: () => seen },
  );
}
