// One VS Code: a code-server of its own user data and extensions, and a browser page showing it.

import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { join } from "node:path";
import { until } from "./until.mjs";
import { Workbench } from "./workbench.mjs";

/** What keeps VS Code from talking about itself during a test. */
const QUIET = {
  "workbench.startupEditor": "none",
  "workbench.tips.enabled": false,
  "workbench.enableExperiments": false,
  "telemetry.telemetryLevel": "off",
  "update.mode": "none",
  "extensions.ignoreRecommendations": true,
  "git.enabled": false,
  "security.workspace.trust.startupPrompt": "never",
  "editor.minimap.enabled": false,
  "editor.stickyScroll.enabled": false,
  "editor.hover.delay": 100,
  // Only the windows that are about compiling depend on what this machine has to compile with.
  "tileperf.compile.enable": false,
};

export class Editor {
  #entry;
  #node;
  #child;
  #browser;
  #log = "";

  /**
   * @param {string} host the folder that host.sh filled
   * @param {string} data a folder for user data and extensions; kept from one start to the next
   */
  constructor(host, data) {
    for (const name of ["node", "browser", "node_modules"]) {
      if (!existsSync(join(host, name))) {
        throw new Error(`no ${name} in ${host}: fill it with host.sh first`);
      }
    }
    this.host = host;
    this.data = data;
    this.#node = join(host, "node");
    this.#entry = join(host, "node_modules", "code-server", "out", "node", "entry.js");
    mkdirSync(join(data, "user", "User"), { recursive: true });
    mkdirSync(join(data, "user", "Machine"), { recursive: true });
  }

  /** Installs a packed extension. */
  install(vsix) {
    const done = spawnSync(
      this.#node,
      [this.#entry, ...this.#folders(), "--install-extension", vsix],
      {
        encoding: "utf8",
        timeout: 120_000,
      },
    );
    if (done.status !== 0 || !/successfully installed/.test(done.stdout)) {
      throw new Error(`installing ${vsix} failed:\n${done.stdout}${done.stderr}`);
    }
  }

  /** Replaces the user's settings. */
  setUserSettings(settings) {
    this.#write("User", { ...QUIET, ...settings });
  }

  /**
   * Replaces the settings of this machine, the only place from which a remote VS Code reads settings
   * of machine scope.
   */
  setMachineSettings(settings) {
    this.#write("Machine", settings);
  }

  /**
   * Opens `folder`. With `trust`, VS Code trusts every folder; without, it starts in restricted mode.
   * @param {{ trust?: boolean, environment?: Record<string, string> }} options
   * @returns {Promise<Workbench>}
   */
  async open(folder, { trust = true, environment = {} } = {}) {
    const port = await freePort();
    const args = [
      ...["--auth", "none", "--bind-addr", `127.0.0.1:${port}`],
      ...["--disable-telemetry", "--disable-update-check", "--disable-getting-started-override"],
      ...(trust ? ["--disable-workspace-trust"] : []),
      ...this.#folders(),
    ];
    // A group of its own, so that stopping reaches the extension host too.
    this.#child = spawn(this.#node, [this.#entry, ...args], {
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...environment },
    });
    const keep = (chunk) => (this.#log += chunk);
    this.#child.stdout.on("data", keep);
    this.#child.stderr.on("data", keep);
    const origin = `http://127.0.0.1:${port}`;
    await until("code-server to listen", async () => {
      if (this.#child.exitCode !== null) {
        throw new Error(`code-server ended early:\n${this.#log}`);
      }
      return (await fetch(`${origin}/healthz`, { signal: AbortSignal.timeout(2000) })).ok;
    });

    const require = createRequire(join(this.host, "package.json"));
    const { chromium } = require("playwright-core");
    this.#browser = await chromium.launch({
      executablePath: join(this.host, "browser"),
      args: ["--disable-gpu", "--disable-dev-shm-usage"],
    });
    const page = await this.#browser.newPage({ viewport: { width: 1400, height: 900 } });
    await page.goto(`${origin}/?folder=${encodeURIComponent(folder)}`);
    const workbench = new Workbench(page);
    await workbench.ready();
    return workbench;
  }

  /** What code-server wrote. */
  get log() {
    return this.#log;
  }

  /** Closes the page and ends code-server, at once (`signal` SIGKILL) or politely. */
  async stop(signal = "SIGTERM") {
    await this.#browser?.close();
    this.#browser = undefined;
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null) {
      return;
    }
    const ended = new Promise((resolve) => child.once("exit", resolve));
    kill(-child.pid, signal);
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 10_000))]);
    kill(-child.pid, "SIGKILL");
  }

  #folders() {
    return [
      ...["--user-data-dir", join(this.data, "user")],
      ...["--extensions-dir", join(this.data, "extensions")],
      ...["--config", join(this.data, "config.yaml")],
    ];
  }

  #write(level, settings) {
    const file = join(this.data, "user", level, "settings.json");
    writeFileSync(file, JSON.stringify(settings, undefined, 2));
  }
}

/** Whether a process is there, as something that still runs. */
export function alive(pid) {
  try {
    process.kill(pid, 0);
    // A zombie has ended; only its parent has not looked yet.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

function kill(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (error.code !== "ESRCH") {
      throw error;
    }
  }
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
