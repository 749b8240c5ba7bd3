// What a kernel author sees and presses: the checks of one window on the fixture workspace.

import { Source } from "./source.mjs";
import { check, until } from "./until.mjs";

const KERNEL = "row_scale_kernel";

/** @param {string} workspace @returns {[string, (w: import("./workbench.mjs").Workbench) => Promise<void>][]} */
export function kernelChecks(workspace) {
  const cutile = "src/demo/ops/cutile";
  const kernel = new Source(workspace, `${cutile}/row_scale.py`);
  const op = new Source(workspace, `${cutile}/row_scale_op.py`);
  const matmul = new Source(workspace, `${cutile}/matmul.py`);
  const softmax = new Source(workspace, `${cutile}/softmax.py`);
  const definition = kernel.place(`def ${KERNEL}(`, KERNEL);
  const launch = op.place("ct.launch(", KERNEL);

  return [
    [
      "the status item counts the kernels of the workspace",
      async (w) => {
        await w.open(kernel.path);
        await w.statusIs(/^tileperf: 4 kernels$/);
      },
    ],
    [
      "Go to Symbol in Editor lists the kernel",
      async (w) => {
        await w.open(kernel.path);
        await w.quickInput("@");
        await w.quickRow(new RegExp(`^${KERNEL}\\b`), `${KERNEL} among the symbols`);
      },
    ],
    [
      "Go to Symbol in Workspace finds the kernel and goes to its name",
      async (w) => {
        await w.closeQuickInput();
        await w.quickInput(`#${KERNEL}`);
        await w.quickRow(
          new RegExp(`^${KERNEL}\\b.*row_scale\\.py`),
          `${KERNEL} of row_scale.py among the workspace symbols`,
        );
        await w.page.keyboard.press("Enter");
        await w.at("row_scale.py", definition);
      },
    ],
    [
      "hovering over the kernel's name shows its card",
      async (w) => {
        await w.open(kernel.path);
        const card = await w.hover(KERNEL, `a hover over ${KERNEL}`);
        check(card.includes(KERNEL), `the hover does not name the kernel: "${card}"`);
      },
    ],
    [
      "a lens stands right above the kernel",
      async (w) => {
        await w.open(kernel.path);
        let lenses = [];
        await until(
          "one lens, above @ct.kernel",
          async () => {
            lenses = await w.lenses();
            return lenses.length === 1 && lenses[0].above.startsWith("@ct.kernel(occupancy=4)");
          },
          { seen: () => lenses },
        );
        check(
          /launch/i.test(lenses[0].text),
          `the lens says nothing of launches: "${lenses[0].text}"`,
        );
      },
    ],
    [
      "a click on the lens lists the uses of the kernel",
      async (w) => {
        await w.open(kernel.path);
        await w.page.locator(".codelens-decoration a").first().click();
        const peek = w.page.locator(".peekview-widget");
        await until("a list of uses that names the launching file", async () =>
          (await peek.innerText({ timeout: 500 })).includes("row_scale_op.py"),
        );
        await w.page.keyboard.press("Escape");
      },
    ],
    [
      "F12 on the launch goes to the kernel in the other file",
      async (w) => {
        await w.open(op.path, launch);
        await w.page.keyboard.press("F12");
        await w.at("row_scale.py", definition);
      },
    ],
    [
      "Shift+F12 on the kernel lists the launch in the other file",
      async (w) => {
        await w.open(kernel.path, definition);
        const results = w.page.locator(".reference-zone-widget");
        await until("the peek of references", async () => {
          if (!(await results.isVisible())) {
            await w.page.keyboard.press("Shift+F12");
          }
          return (await results.innerText({ timeout: 2000 })).includes("row_scale_op.py");
        });
      },
    ],
    [
      "the generator shows how many configurations each architecture has",
      async (w) => {
        await w.page.keyboard.press("Escape");
        await w.open(matmul.path, matmul.place("def matmul_configs", "matmul_configs"));
        await hintOn(w, matmul, "def matmul_configs", /sm_\d+/);
      },
    ],
    [
      "a launch through a variable shows which kernels it can run",
      async (w) => {
        await w.open(softmax.path, softmax.place("ct.launch(", "kernel"));
        await hintOn(w, softmax, "ct.launch(", /softmax_kernel/);
      },
    ],
    [
      "a kernel typed into the file is found while it is unsaved",
      async (w) => {
        const end = kernel.lines.length;
        await w.open(kernel.path, { line: end, column: 1 });
        await w.page.keyboard.insertText("\n\n@ct.kernel\ndef typed_kernel(x):\n    pass\n");
        await w.quickInput("@");
        await w.quickRow(/^typed_kernel\b/, "typed_kernel among the symbols");
        await w.closeQuickInput();
        let lenses = [];
        await until(
          "a lens above the typed kernel",
          async () => {
            lenses = await w.lenses();
            return lenses.some((lens) => lens.above === "@ct.kernel");
          },
          { seen: () => lenses },
        );
        await w.statusIs(/^tileperf: 5 kernels$/);
      },
    ],
    [
      "undoing the typing takes it away again",
      async (w) => {
        await until(
          "the file to be as on disk",
          async () => {
            if ((await w.text()).trimEnd() === kernel.text.trimEnd()) {
              return true;
            }
            await w.page.keyboard.press("Control+Z");
            return false;
          },
          { seen: () => w.text() },
        );
        await w.statusIs(/^tileperf: 4 kernels$/);
      },
    ],
  ];
}

/** Waits for the line that starts with `line` to be drawn with something that the file does not hold. */
async function hintOn(w, source, line, hint) {
  const written = source.lines[source.place(line).line - 1];
  check(!hint.test(written), `${source.name}: ${hint} matches the line itself`);
  let drawn = "";
  await until(
    `an inlay hint that matches ${hint} on "${written.trim()}"`,
    async () => {
      const lines = await w.drawnLines();
      drawn = lines.find(({ text }) => text.trim().startsWith(line))?.text ?? "";
      return hint.test(drawn);
    },
    { seen: () => drawn },
  );
}
