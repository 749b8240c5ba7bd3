// What the compiler makes of kernels, as the window shows it, with the real compiler; the doctor; and
// how the compiler is installed where there is none.

import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Source } from "./source.mjs";
import { check, until } from "./until.mjs";

const FOLDER = "src/demo/ops/cutile";
/** The first compile of a window starts Python, and tileiras takes seconds. */
const COMPILING = { limit: 120_000 };

/** A helper that makes two shapes meet which do not go together. Only the compiler sees it. */
const WIDEN = `"""Adds a row to each row of a matrix."""

import cuda.tile as ct


def widened(tile):
    """The tile, and half a row of zeros."""
    return tile + ct.zeros((1, 48 - 16), ct.float32)


@ct.kernel
def widen_kernel(x, out):
    """\`out = x + 0\`, a row of 64 for each block."""
    row = ct.bid(0)
    tile = ct.load(x, index=(row, 0), shape=(1, 64), padding_mode=ct.PaddingMode.ZERO)
    ct.store(out, index=(row, 0), tile=widened(ct.astype(tile, ct.float32)))
`;

/** A kernel that is launched with tiles of two sizes. */
const SQUARE = `"""Multiplies a matrix with itself."""

import cuda.tile as ct


@ct.kernel
def square_kernel(x, out, TILE: ct.Constant[int]):
    """\`out = x @ x\`, a square of TILE for each block."""
    i, j = ct.bid(0), ct.bid(1)
    total = ct.zeros((TILE, TILE), dtype=ct.float32)
    for k in range(ct.num_tiles(x, 1, (TILE, TILE))):
        first = ct.load(x, index=(i, k), shape=(TILE, TILE))
        second = ct.load(x, index=(k, j), shape=(TILE, TILE))
        total = ct.mma(first, second, total)
    ct.store(out, index=(i, j), tile=ct.astype(total, out.dtype))


def square(x, out, stream, rows):
    """Large tiles only where there are enough of them."""
    if rows > 4096:
        ct.launch(stream, (rows // 64, rows // 64, 1), square_kernel, (x, out, 64))
    else:
        ct.launch(stream, (rows // 32, rows // 32, 1), square_kernel, (x, out, 32))
`;

/** Puts a kernel that does not compile, and one with two signatures, into `workspace`. */
export function plantKernels(workspace) {
  writeFileSync(join(workspace, FOLDER, "widen.py"), WIDEN);
  writeFileSync(join(workspace, FOLDER, "square.py"), SQUARE);
}

/**
 * A Python without packages in `folder`. What it installs is what `real`, an interpreter of a virtual
 * environment, has: it links to it, after some time.
 * @returns {string} the interpreter
 */
export function pythonWithout(folder, real) {
  const environment = dirname(dirname(real));
  const python = join(folder, "bin", "python");
  mkdirSync(dirname(python), { recursive: true });
  writeFileSync(join(folder, "pyvenv.cfg"), "home = /usr/bin\nversion = 3.12.0\n");
  writeFileSync(
    python,
    `#!/bin/sh
set -e
case "$1 $2" in
"-c "*) echo 3.12 ;;
"-m venv")
  mkdir -p "$4/bin"
  cp "$0" "$4/bin/python"
  ;;
"-m pip")
  made=$(dirname "$(dirname "$0")")
  echo "Collecting cuda-tile"
  sleep 3
  cp "${environment}/pyvenv.cfg" "$made/pyvenv.cfg"
  ln -s "${environment}/lib" "$made/lib"
  ln -sf "${environment}/bin/python" "$made/bin/python"
  ;;
esac
`,
  );
  chmodSync(python, 0o755);
  return python;
}

/** @param {string} workspace that `plantKernels` has been to */
export function compiledChecks(workspace) {
  const matmul = new Source(workspace, `${FOLDER}/matmul.py`);
  const softmax = new Source(workspace, `${FOLDER}/softmax.py`);
  const square = new Source(workspace, `${FOLDER}/square.py`);
  const kernel = new Source(workspace, `${FOLDER}/row_scale.py`);
  const host = new Source(workspace, `${FOLDER}/row_scale_op.py`);
  const refused = new Source(workspace, `${FOLDER}/widen.py`);
  const mma = matmul.place("total = ct.mma(", "mma");

  return [
    [
      "what was compiled stands behind each load, store and multiplication",
      async (w) => {
        await w.open(matmul.path, mma);
        await drawn(w, /left = ct\.load\(.*TMA \d+x\d+/);
        await drawn(w, /total = ct\.mma\(.*tensor core SM90 64x128x16/);
        await drawn(w, /ct\.store\(.*TMA \d+x\d+/);
      },
    ],
    [
      "a lens says what a block takes",
      async (w) => {
        await w.open(matmul.path, mma);
        await lens(w, /sm_90: \d+ regs, no stack, [\d.]+ KiB shared, \d+ threads/);
      },
    ],
    [
      "a load that does not use TMA says why",
      async (w) => {
        await w.open(softmax.path, softmax.place("def softmax_kernel("));
        // VS Code cuts hints after 43 characters.
        await drawn(w, /tile = ct\.load\(.*plain load: TMA only supports/);
      },
    ],
    [
      "the hover over the multiplication has the compiler's words and the signature",
      async (w) => {
        await w.open(matmul.path, mma);
        // What the editor knows itself comes up before the server's answer is there.
        let text = "";
        await until(
          "a hover with the compiler's words and the architecture",
          async () => {
            text = await w.hoverAtCursor("a hover over ct.mma");
            return /tensor core/i.test(text) && text.includes("sm_90");
          },
          { ...COMPILING, seen: () => text },
        );
      },
    ],
    [
      "the playbook says what compiled code makes of an action, and the action edits the kernel",
      async (w) => {
        await w.open(matmul.path, mma);
        // The menu has no more rows than fit; what promises most comes first.
        await refactored(w, /^I: Take the tiles of the result in groups of 8 rows \(sm_90: /);
        await until(
          "the blocks to be grouped",
          async () => (await w.text()).includes("# Blocks in groups of 8 rows of tiles"),
          { seen: () => w.text() },
        );
        await w.page.keyboard.press("Control+z");
      },
    ],
    [
      "an action on a kernel that is launched from another file changes both files",
      async (w) => {
        await w.open(kernel.path, kernel.place("def row_scale_kernel(", "row_scale_kernel"));
        await refactored(w, /^C: Tune the occupancy of `row_scale_kernel`/);
        const has = (what, text) =>
          until(what, async () => (await w.text()).includes(text), { seen: () => w.text() });
        await until(
          "the hint to leave the kernel",
          async () => !(await w.text()).includes("occupancy=4"),
          { seen: () => w.text() },
        );
        await w.open(host.path, host.place("TILE = 1024"));
        await has("the search in the other file", "_row_scale_kernel_configs");
        // VS Code saves what a refactoring changes in several files.
        for (const source of [kernel, host]) {
          writeFileSync(source.path, source.text);
        }
        await w.open(kernel.path, kernel.place("def row_scale_kernel("));
        await w.command("File: Revert File");
        await has("the hint again", "occupancy=4");
      },
    ],
    [
      "the user picks the signature for which compiled code is shown",
      async (w) => {
        await w.open(square.path, square.place("def square_kernel("));
        await drawn(w, /first = ct\.load\(.*TMA 64x64/);
        await lens(w, /2 signatures/);
        await w.page.locator(".codelens-decoration a", { hasText: "2 signatures" }).click();
        const rows = await w.quickRow(/TILE: 32/, "the signatures");
        check(
          rows.some((row) => /TILE: 64 .*from a launch in the code.*shown/.test(row)),
          `it is not said which is shown and where it comes from: ${rows.join("; ")}`,
        );
        await w.page.locator(".quick-input-list .monaco-list-row", { hasText: "TILE: 32" }).click();
        await drawn(w, /first = ct\.load\(.*TMA 32x32/);
      },
    ],
    [
      "a compile error is a problem, and its hover says where such errors come from",
      async (w) => {
        const at = refused.place("tile=widened(", "widened");
        await w.open(refused.path, at);
        await w.command("Problems: Focus on Problems View");
        let seen = [];
        await until(
          "cuTile's message among the problems",
          async () => {
            seen = await w.problems();
            return seen.some(({ text }) => /not broadcastable.*tileperfTP501/.test(text));
          },
          { ...COMPILING, seen: () => seen },
        );
        const marked = refused.place("return tile + ct.zeros(", "tile + ct");
        await w.open(refused.path, marked);
        // What the editor knows itself comes up before the server's answer is there.
        let text = "";
        await until(
          "a hover that explains the error",
          async () => {
            text = await w.hoverAtCursor("a hover over the error");
            const words = ["not broadcastable", "keepdims=True", "explain not-broadcastable"];
            return words.every((word) => text.includes(word));
          },
          { ...COMPILING, seen: () => text },
        );
      },
    ],
    [
      "the doctor lists what there is",
      async (w) => {
        const text = await doctor(w, /• GPU: |✓ GPU: /);
        check(/✓ cuda-tile: 1\.7\.0/.test(text), `it does not see cuda-tile:\n${text}`);
        check(/✓ tileiras: /.test(text), `it does not see tileiras:\n${text}`);
      },
    ],
  ];
}

/**
 * In a window whose Python has no cuda-tile.
 * @param {string} cache tileperf's cache folder, empty at first
 */
export function installChecks(workspace, cache) {
  const matmul = new Source(workspace, `${FOLDER}/matmul.py`);
  const mma = matmul.place("total = ct.mma(", "mma");

  return [
    [
      "where there is no compiler, a message says so and offers help",
      async (w) => {
        await w.open(matmul.path, mma);
        await notified(w, /Install….*Doctor.*kernels are not compiled: .* has no cuda-tile/s);
      },
    ],
    [
      "its button opens the doctor, which names the cure",
      async (w) => {
        await press(w, "Doctor");
        await until(
          "the doctor's text",
          async () => (await w.where()).startsWith("doctor.md") && /✗/.test(await w.text()),
          { seen: () => w.text() },
        );
        const text = await w.text();
        check(/✗ cuda-tile: not installed/.test(text), `it misses cuda-tile:\n${text}`);
        check(/→ .*tileperf toolchain install/.test(text), `it names no cure:\n${text}`);
      },
    ],
    [
      "the command asks before anything is downloaded, and takes no for an answer",
      async (w) => {
        await w.command("tileperf: Install Compiler Toolchain");
        await notified(
          w,
          /2 GB are downloaded .* into .*toolchain.*Nothing of the project changes/s,
        );
        await press(w, "Not now");
        check(!existsSync(join(cache, "toolchain")), "something was installed all the same");
      },
    ],
    [
      "at a yes the compiler is installed, with progress, and kernels are compiled",
      async (w) => {
        await w.open(matmul.path, mma);
        await w.command("tileperf: Install Compiler Toolchain");
        await notified(w, /2 GB are downloaded/);
        await press(w, "Install");
        await notified(w, /cuTile and its compiler are installed/);
        await drawn(w, /total = ct\.mma\(.*tensor core SM90 64x128x16/);
        await lens(w, /sm_90: \d+ regs/);
      },
    ],
    [
      "asked again, it says that it is there",
      async (w) => {
        await w.command("tileperf: Install Compiler Toolchain");
        await notified(w, /is installed in .*toolchain/);
      },
    ],
  ];
}

/** Runs the doctor and returns its text, once it matches. */
async function doctor(w, pattern) {
  let text = "";
  await w.command("tileperf: Doctor");
  await until(
    `the doctor's text with ${pattern}`,
    async () => {
      text = (await w.where()).startsWith("tileperf doctor.md") ? await w.text() : "";
      return pattern.test(text);
    },
    { seen: () => text },
  );
  return text;
}

async function drawn(w, pattern) {
  let seen = [];
  await until(
    `a line that is drawn as ${pattern}`,
    async () => {
      seen = (await w.drawnLines()).map(({ text }) => text);
      return seen.some((text) => pattern.test(text));
    },
    { ...COMPILING, seen: () => seen },
  );
}

async function lens(w, pattern) {
  let seen = [];
  await until(
    `a lens that matches ${pattern}`,
    async () => {
      seen = (await w.lenses()).map(({ text }) => text);
      return seen.some((text) => pattern.test(text));
    },
    { ...COMPILING, seen: () => seen },
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

/** Presses a button of a notification, which may have been put away by now. */
async function press(w, title) {
  const button = w.page
    .locator(".notification-list-item .monaco-button", { hasText: new RegExp(`^${title}$`) })
    .first();
  if (!(await button.isVisible())) {
    await w.command("Notifications: Show Notifications");
  }
  await button.click();
}

/** Opens the refactorings at the cursor, again until one matches, and takes it. */
async function refactored(w, pattern) {
  const offers = w.page.locator(".action-widget .monaco-list-row");
  let seen = [];
  await until(
    `a refactoring that matches ${pattern}`,
    async () => {
      await w.command("Refactor...");
      await offers
        .first()
        .waitFor({ timeout: 5_000 })
        .catch(() => undefined);
      seen = (await offers.allInnerTexts()).map((text) => text.replace(/\s+/g, " ").trim());
      const at = seen.findIndex((text) => pattern.test(text));
      if (at < 0) {
        await w.page.keyboard.press("Escape");
      }
      return at >= 0;
    },
    { ...COMPILING, seen: () => seen },
  );
  // What blocks the mouse outside the menu lies over it as well.
  await until(
    "the refactoring to be chosen",
    async () => {
      const row = offers.nth(seen.findIndex((text) => pattern.test(text)));
      if ((await row.getAttribute("class", { timeout: 2000 })).split(" ").includes("focused")) {
        return true;
      }
      await w.page.keyboard.press("ArrowDown");
      return false;
    },
    { seen: () => offers.allInnerTexts() },
  );
  await w.page.keyboard.press("Enter");
}
