// The server's life, as the extension manages it: shown, restarted, killed, switched, gone.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { alive } from "./editor.mjs";
import { Source } from "./source.mjs";
import { check, until } from "./until.mjs";

/** @param {string} workspace @param {string} server the path that the editor was told to run */
export function lifeChecks(workspace, server) {
  const kernel = new Source(workspace, "src/demo/ops/cutile/row_scale.py");

  return [
    [
      "Show Server Info tells version, path, how it was found, state and counts",
      async (w) => {
        const info = await w.serverInfo(/State: ready/, "a server that is ready");
        for (const part of [
          /Version: \d+\.\d+\.\d+/,
          /How it was found: setting tileperf\.server\.path/,
          /Kernels: 4/,
          /Python files: \d+/,
          /Workspace trusted: yes/,
        ]) {
          check(part.test(info), `the server info does not match ${part}:\n${info}`);
        }
        check(
          info.includes(`Path: ${server}`),
          `the server info does not name ${server}:\n${info}`,
        );
      },
    ],
    [
      "Restart Server brings up another process and ends the old one",
      async (w) => {
        const pid = await w.serverPid();
        await w.command("tileperf: Restart Server");
        await until(`process ${pid} to end`, () => !alive(pid));
        const next = await anotherPid(w, pid);
        check(alive(next), `the new server, process ${next}, is not running`);
      },
    ],
    [
      "a server that is killed comes back, and so do its lenses",
      async (w) => {
        const pid = await w.serverPid();
        process.kill(pid, "SIGKILL");
        await anotherPid(w, pid);
        await w.open(kernel.path);
        await until("a lens from the new server", async () => (await w.lenses()).length === 1);
      },
    ],
    [
      "Show Log opens the server's log",
      async (w) => {
        await w.command("tileperf: Show Log");
        const panel = w.page.locator(".part.panel .monaco-editor .view-lines");
        let seen = "";
        await until(
          "the log panel to tell of the start",
          async () => {
            seen = (await panel.first().innerText()).replaceAll("\u00a0", " ");
            return seen.includes("[extension] starting");
          },
          { seen: () => seen },
        );
      },
    ],
  ];
}

/** A surface that a user switches off disappears without a restart, and the status item says so. */
export function settingsChecks(workspace, editor, machine) {
  const kernel = new Source(workspace, "src/demo/ops/cutile/row_scale.py");
  return [
    [
      "switching code lenses off takes them away, switching them on brings them back",
      async (w) => {
        await w.open(kernel.path);
        await until("a lens", async () => (await w.lenses()).length === 1);
        editor.setMachineSettings({ ...machine, "tileperf.codeLens.enable": false });
        await until("no lens", async () => (await w.lenses()).length === 0);
        editor.setMachineSettings(machine);
        await until("the lens again", async () => (await w.lenses()).length === 1);
      },
    ],
    [
      "a server that never answers is replaced by another one and ended, without a word",
      async (w) => {
        const [program, pidFile] = [join(editor.data, "hung"), join(editor.data, "hung.pid")];
        const script = `#!/bin/sh
          [ "$1" = --version ] && echo tileperf 0.0.0 && exit
          echo $$ >'${pidFile}'
          while :; do sleep 1; done`;
        writeFileSync(program, script, { mode: 0o755 });
        editor.setMachineSettings({ "tileperf.server.path": program });
        const pid = await until("the hung server to start", () =>
          Number(readFileSync(pidFile, "utf8")),
        );
        editor.setMachineSettings(machine);
        await until(`process ${pid} to end`, () => !alive(pid));
        await w.open(kernel.path);
        await w.statusIs(/^tileperf: 4 kernels$/);
        const seen = await w.notifications();
        check(seen.length === 0, `there are notifications: ${seen}`);
      },
    ],
    [
      "a server path that leads nowhere is one clear error with something to do about it",
      async (w) => {
        editor.setMachineSettings({ "tileperf.server.path": "/nowhere/tileperf" });
        let seen = [];
        await until(
          "an error that names the path",
          async () => {
            seen = await w.notifications();
            return seen.some((text) => text.includes("/nowhere/tileperf"));
          },
          { seen: () => seen },
        );
        const about = seen.filter((text) => text.includes("tileperf"));
        check(about.length === 1, `${about.length} notifications instead of one: ${about}`);
        for (const action of ["Open Settings", "Show Log"]) {
          check(about[0].includes(action), `the error does not offer "${action}": ${about[0]}`);
        }
        await w.statusIs(/no server/);
      },
    ],
    [
      "correcting the path starts the server without more ado",
      async (w) => {
        editor.setMachineSettings(machine);
        await w.open(kernel.path);
        await w.statusIs(/^tileperf: 4 kernels$/);
      },
    ],
  ];
}

/** A folder without kernels: the server runs and nothing of it shows. */
export function dormantChecks(file) {
  return [
    [
      "in a folder without kernels there is a dormant server and no status item",
      async (w) => {
        await w.open(file);
        await w.serverInfo(/State: dormant/, "a dormant server");
        await w.open(file);
        const status = await w.status();
        check(status === undefined, `there is a status item: ${status}`);
      },
    ],
  ];
}

/** The process number of the server once it is another than `old`. */
export async function anotherPid(w, old) {
  let pid = old;
  await until(
    `a server other than process ${old}`,
    async () => {
      pid = await w.serverPid();
      return pid !== old;
    },
    { seen: () => pid },
  );
  return pid;
}
