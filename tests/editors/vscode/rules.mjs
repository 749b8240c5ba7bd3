// What the rules find, as the window shows it: in the open file, corrected by a quick fix, and in a
// file that is not open.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Source } from "./source.mjs";
import { check, until } from "./until.mjs";

const FOLDER = "src/demo/ops/cutile";
const FIX = "Remake the kernel once, when the module is imported";

/** A kernel is remade with other hints at every call (TP101), which can be corrected. */
const REMADE = `"""Launches the row-scaling kernel for wide rows."""

import cuda.tile as ct
import torch

from demo.ops.cutile.row_scale import row_scale_kernel

TILE = 4096


def row_scale_wide(x: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    """Scales row \`i\` of \`x\` by \`scale[i]\`."""
    rows, columns = x.shape
    out = torch.empty_like(x)
    kernel = row_scale_kernel.replace_hints(occupancy=2)
    grid = (rows, ct.cdiv(columns, TILE), 1)
    ct.launch(torch.cuda.current_stream(), grid, kernel, (x, scale, out, TILE))
    return out
`;

/** A tile of 96 elements (TP204). */
const UNEVEN = `"""Halves a vector."""

import cuda.tile as ct


@ct.kernel
def halve_kernel(x, out):
    """\`out = x / 2\`, 96 elements for each block."""
    block = ct.bid(0)
    tile = ct.load(x, index=(block,), shape=(96,))
    ct.store(out, index=(block,), tile=tile * 0.5)
`;

/** Puts the two files into `workspace`. */
export function plantFindings(workspace) {
  writeFileSync(join(workspace, FOLDER, "row_scale_wide.py"), REMADE);
  writeFileSync(join(workspace, FOLDER, "halve.py"), UNEVEN);
}

/** @param {string} workspace that `plantFindings` has been to */
export function ruleChecks(workspace) {
  const remade = new Source(workspace, `${FOLDER}/row_scale_wide.py`);
  const call = remade.place("kernel = row_scale_kernel", "replace_hints");

  return [
    [
      "a finding is in the list of problems, with its code and a link",
      async (w) => {
        await w.open(remade.path, call);
        await w.command("Problems: Focus on Problems View");
        const problem = await listed(w, /remade with other hints at every call.*tileperfTP101/);
        check(/\[Ln 15, Col 31\]/.test(problem.text), `it is elsewhere: ${problem.text}`);
        check(
          /^https:\/\/.+replace-hints-hot-path$/.test(problem.link),
          `its code links to "${problem.link}"`,
        );
      },
    ],
    [
      "the hover over the marked code shows the finding",
      async (w) => {
        await w.open(remade.path, call);
        const text = await w.hoverAtCursor("a hover over replace_hints");
        check(text.includes("tileperfTP101"), `the hover has no finding: "${text}"`);
      },
    ],
    [
      "the quick fix corrects the code, and the finding is gone",
      async (w) => {
        await w.open(remade.path, call);
        await quickFix(w, FIX);
        await until(
          "the kernel to be remade once, for the module",
          async () => /^_\w+ = row_scale_kernel\.replace_hints\(/m.test(await w.text()),
          { seen: () => w.text() },
        );
        await w.command("Problems: Focus on Problems View");
        await until(
          "no problem in the file",
          async () => !(await w.problems()).some(({ text }) => text.includes("TP101")),
          { seen: () => w.problems() },
        );
      },
    ],
    [
      "Check Workspace lists what is wrong in a file that is not open",
      async (w) => {
        const before = await w.problems();
        check(
          !before.some(({ text }) => text.includes("halve.py")),
          `there already is a problem in halve.py: ${JSON.stringify(before)}`,
        );
        await w.command("tileperf: Check Workspace");
        let seen = [];
        await until(
          "word of how much was found, and in how many files",
          async () => {
            seen = await w.notifications();
            return seen.some((text) => /tileperf: \d+ error.* in \d+ files/.test(text));
          },
          { seen: () => seen },
        );
        await listed(w, /^halve\.py/);
        await listed(w, /a tile's extent is 96.*tileperfTP204/);
        const tabs = await w.page.locator(".part.editor .tab .label-name").allInnerTexts();
        check(!tabs.includes("halve.py"), `halve.py was opened: ${tabs}`);
      },
    ],
  ];
}

/** Waits for a problem whose row matches, and returns it. */
async function listed(w, pattern) {
  let seen = [];
  return until(
    `a problem that matches ${pattern}`,
    async () => {
      seen = await w.problems();
      return seen.find(({ text }) => pattern.test(text));
    },
    { seen: () => seen },
  );
}

/** Opens the quick fixes at the cursor and takes the one with this title. */
async function quickFix(w, title) {
  const offers = w.page.locator(".action-widget .monaco-list-row");
  await until(
    `the quick fix "${title}" to be chosen`,
    async () => {
      if ((await offers.count()) === 0) {
        await w.page.keyboard.press("Control+.");
      }
      // The preferred one comes first and is chosen already.
      return (await offers.filter({ hasText: title }).getAttribute("class", { timeout: 2000 }))
        .split(" ")
        .includes("focused");
    },
    { seen: () => offers.allInnerTexts() },
  );
  await w.page.keyboard.press("Enter");
}
