// A workspace that is not trusted, and one that tries to choose the program that runs.

import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Source } from "./source.mjs";
import { check, until } from "./until.mjs";

/**
 * Gives `workspace` settings that name a program of its own as the server.
 * @returns the file that this program leaves behind when it is run
 */
export function plantServer(workspace) {
  const trace = join(workspace, "planted-server-was-run");
  const program = join(workspace, "planted-server");
  writeFileSync(program, `#!/bin/sh\ntouch '${trace}'\necho 'tileperf 6.6.6'\n`);
  chmodSync(program, 0o755);
  mkdirSync(join(workspace, ".vscode"), { recursive: true });
  const settings = { "tileperf.server.path": program };
  writeFileSync(join(workspace, ".vscode", "settings.json"), JSON.stringify(settings));
  return trace;
}

/** @param {string} trace from `plantServer` */
export function trustChecks(workspace, server, trace) {
  const kernel = new Source(workspace, "src/demo/ops/cutile/row_scale.py");
  const own = async (w, pattern, what) => {
    const info = await w.serverInfo(pattern, what);
    check(info.includes(`Path: ${server}`), `another server than ${server} runs:\n${info}`);
    check(!existsSync(trace), "the workspace's own program was run");
  };

  return [
    [
      "in restricted mode kernels are shown and the workspace's server path is ignored",
      async (w) => {
        await w.open(kernel.path);
        await w.statusIs(/^tileperf: 4 kernels$/);
        await until("a lens", async () => (await w.lenses()).length === 1);
        await own(w, /State: ready[^]*Workspace trusted: no/, "a server in restricted mode");
      },
    ],
    [
      "in restricted mode no iteration is run, and the way to trust is shown",
      async (w) => {
        await w.open(kernel.path, kernel.place("def row_scale_kernel(", "row_scale_kernel"));
        await w.command("tileperf: Run perf iteration");
        let seen = [];
        await until(
          "a refusal",
          async () => {
            seen = await w.notifications();
            return seen.some((text) => /Manage Workspace Trust\s+tileperf runs code/.test(text));
          },
          { seen: () => seen },
        );
        check(!existsSync(join(workspace, "sandbox")), "a session was set up");
      },
    ],
    [
      "once the workspace is trusted the server is told, and its path is still ignored",
      async (w) => {
        await w.command("Workspaces: Manage Workspace Trust");
        const button = w.page.locator(".workspace-trust-editor .monaco-button", {
          hasText: /^Trust$/,
        });
        await button.first().click();
        await own(w, /State: ready[^]*Workspace trusted: yes/, "a server in a trusted workspace");
      },
    ],
  ];
}
