import assert from "node:assert/strict";
import { test } from "node:test";
import { kernelLine, type Lines } from "./kernelLine";

function lines(text: string): Lines {
  const all = text.split("\n");
  return { lineCount: all.length, text: (line) => all[line] ?? "" };
}

const FILE = lines(
  [
    "import cuda.tile as ct", // 0
    "def scale_kernel_old(x):", // 1
    "    scale_kernel(x)", // 2
    "if NEW:", // 3
    "    def scale_kernel(x):", // 4
    "        pass", // 5
    "else:", // 6
    "    def scale_kernel (x):", // 7
    "        pass", // 8
  ].join("\n"),
);

test("the definition nearest to where the server saw it", () => {
  assert.equal(kernelLine(FILE, "scale_kernel", 4), 4);
  assert.equal(kernelLine(FILE, "scale_kernel", 0), 4);
  assert.equal(kernelLine(FILE, "scale_kernel", 8), 7);
  assert.equal(kernelLine(FILE, "scale_kernel", 9000), 7);
});

test("the last part of a qualified name", () => {
  assert.equal(kernelLine(FILE, "Outer.make.scale_kernel", 4), 4);
});

test("a call, a longer name or nothing is no definition", () => {
  assert.equal(kernelLine(FILE, "scale", 1), undefined);
  assert.equal(kernelLine(FILE, "sc.le_kernel$", 1), undefined);
  assert.equal(kernelLine(lines(""), "scale_kernel", 0), undefined);
});
