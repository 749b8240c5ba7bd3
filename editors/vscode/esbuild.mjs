// Bundles the extension into one file (dist/extension.js), or its unit tests into out/.
//   node esbuild.mjs [--minify] [--watch] | --tests

import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import * as esbuild from "esbuild";

const here = import.meta.dirname;
const has = (flag) => process.argv.includes(flag);

/** @type {esbuild.BuildOptions} */
const shared = {
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node20", // what VS Code 1.100 runs extensions on
  logLevel: "warning",
};

if (has("--tests")) {
  const source = join(here, "src");
  const outdir = join(here, "out");
  rmSync(outdir, { recursive: true, force: true }); // a deleted test must not live on
  await esbuild.build({
    ...shared,
    entryPoints: readdirSync(source, { recursive: true })
      .filter((name) => name.endsWith(".test.ts"))
      .map((name) => join(source, name)),
    outdir,
    entryNames: "[name]", // side by side, where the runner looks for them
    sourcemap: "inline",
  });
} else {
  const options = {
    ...shared,
    entryPoints: [join(here, "src", "extension.ts")],
    outfile: join(here, "dist", "extension.js"),
    external: ["vscode"],
    minify: has("--minify"),
    sourcemap: !has("--minify"),
  };
  if (has("--watch")) {
    const context = await esbuild.context({ ...options, logLevel: "info" });
    await context.watch();
  } else {
    await esbuild.build(options);
  }
}
