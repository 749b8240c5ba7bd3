// Drives the packaged extension in a real VS Code, end to end.
//
//   node run.mjs --host DIR --server PATH --vsix FILE --workspace DIR --artifacts DIR [--only WINDOW]
//
// With --only WINDOW, only the checks of that window run.
//
// DIR of --host was filled by host.sh. The workspace is copied, never written to. Every check leaves a
// screenshot in the artifacts folder; a failed one also leaves code-server's log. Exit code 1 when a
// check failed, 2 when the run could not start.

import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { alive, Editor } from "./editor.mjs";
import { compiledChecks, installChecks, plantKernels, pythonWithout } from "./compiled.mjs";
import { copyGym, writeJournal } from "./gym.mjs";
import { kernelChecks } from "./kernels.mjs";
import { dormantChecks, lifeChecks, settingsChecks } from "./life.mjs";
import { journalChecks, loopChecks } from "./loop.mjs";
import { fakeServer, perfChecks } from "./perf.mjs";
import { plantFindings, ruleChecks } from "./rules.mjs";
import { plantServer, trustChecks } from "./trust.mjs";
import { until } from "./until.mjs";

const options = readArguments();
const machine = { "tileperf.server.path": options.server };
const scratch = realpathSync(mkdtempSync(join(tmpdir(), "tileperf-vscode-")));
const count = { passed: 0, failed: 0 };

try {
  clearArtifacts();
  const editor = new Editor(options.host, join(scratch, "editor"));
  editor.install(options.vsix);

  const workspace = copyWorkspace("workspace");
  await inWindow(editor, "kernels", workspace, {}, async (w) => [
    ...kernelChecks(workspace),
    ...lifeChecks(workspace, options.server),
    ...settingsChecks(workspace, editor, machine),
    [
      "when the editor is killed no server is left",
      async () => {
        const pid = await w.serverPid();
        await editor.stop("SIGKILL");
        await until(`process ${pid} to end`, () => !alive(pid));
      },
    ],
  ]);

  const checked = copyWorkspace("checked");
  plantFindings(checked);
  await inWindow(editor, "rules", checked, {}, () => ruleChecks(checked));

  const tuned = copyWorkspace("tuned");
  const { program, log } = fakeServer(options.host, tuned, scratch);
  await inWindow(editor, "perf", tuned, { server: program }, () => perfChecks(tuned, log));

  const project = join(import.meta.dirname, "..", "..", "gym");
  const environment = {
    TILEPERF_STATE: join(scratch, "state"),
    TILEPERF_CACHE: join(scratch, "cache"),
  };
  const measured = copyGym(project, join(scratch, "measured"));
  writeJournal(measured);
  await inWindow(editor, "journal", measured, { environment }, () => journalChecks(measured));

  const python = process.env.TILEPERF_TEST_PYTEST ?? process.env.TILEPERF_TEST_PYTHON;
  if (python === undefined) {
    console.log("no run is measured: TILEPERF_TEST_PYTEST names no Python with pytest");
  } else {
    const gym = copyGym(project, join(scratch, "gym"));
    const how = { environment, machine: { "tileperf.python.path": python } };
    await inWindow(editor, "loop", gym, how, () =>
      loopChecks(gym, { server: options.server, python, environment }),
    );
  }

  const compiler = process.env.TILEPERF_TEST_TILEIRAS;
  if (compiler === undefined) {
    console.log("nothing is compiled: TILEPERF_TEST_TILEIRAS names no Python with cuTile");
  } else {
    const truth = copyWorkspace("truth");
    plantKernels(truth);
    // What the user has compiled before must not choose the signatures.
    const apart = { ...environment, CUDA_TILE_CACHE_DIR: join(scratch, "cutile") };
    const user = { "tileperf.compile.enable": true };
    const how = { user, environment: apart, machine: { "tileperf.python.path": compiler } };
    await inWindow(editor, "compiled", truth, how, () => compiledChecks(truth));

    const bare = copyWorkspace("bare");
    const cache = join(scratch, "empty-cache");
    const without = pythonWithout(join(scratch, "python"), compiler);
    const installing = {
      user,
      environment: { ...apart, TILEPERF_CACHE: cache },
      machine: { "tileperf.python.path": without },
    };
    await inWindow(editor, "install", bare, installing, () => installChecks(bare, cache));
  }

  const plain = join(scratch, "plain");
  mkdirSync(plain);
  cpSync(join(options.workspace, "src", "demo", "plain.py"), join(plain, "plain.py"));
  await inWindow(editor, "dormant", plain, {}, () => dormantChecks(join(plain, "plain.py")));

  const hostile = copyWorkspace("hostile");
  const trace = plantServer(hostile);
  await inWindow(editor, "trust", hostile, { trust: false }, () =>
    trustChecks(hostile, options.server, trace),
  );
} catch (error) {
  console.error(error);
  process.exitCode = 2;
} finally {
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
}

console.log(`${count.passed} passed, ${count.failed} failed`);
process.exitCode ??= count.failed > 0 ? 1 : 0;

/** Opens a window on `folder`, runs its checks in order, and closes it. */
async function inWindow(editor, name, folder, how, checks) {
  if (options.only !== undefined && options.only !== name) {
    return;
  }
  editor.setUserSettings(how.user ?? {});
  editor.setMachineSettings({
    "tileperf.server.path": how.server ?? options.server,
    ...how.machine,
  });
  const workbench = await editor.open(folder, how);
  try {
    for (const [title, body] of await checks(workbench)) {
      await run(editor, workbench, name, title, body);
    }
  } finally {
    await editor.stop();
  }
}

/**
 * Runs one check and reports it; a failure does not keep the next ones from running. A check that
 * fails is tried once more and the first failure kept in a log: keys typed into a busy browser get
 * lost, and a fault of ours does not go away by looking twice.
 */
async function run(editor, workbench, window, title, body) {
  const number = String(count.passed + count.failed + 1).padStart(2, "0");
  const file = join(
    options.artifacts,
    `${number}-${window}-${title.replace(/\W+/g, "-").slice(0, 60)}`,
  );
  const start = performance.now();
  let failure = await attempt(workbench, body);
  let again = "";
  if (failure) {
    writeFileSync(`${file}-first.log`, `${failure.stack}\n\n${editor.log}`);
    await workbench.screenshot(`${file}-first.png`).catch(() => undefined);
    await workbench.page.keyboard.press("Escape").catch(() => undefined);
    failure = await attempt(workbench, body);
    again = ", at the second try";
  }
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  await workbench.screenshot(`${file}.png`).catch(() => undefined); // the window may be closed by now
  if (failure) {
    count.failed += 1;
    writeFileSync(`${file}.log`, `${failure.stack}\n\n${editor.log}`);
    console.log(`FAILED ${window}: ${title} (${seconds} s)\n  ${failure.message}`);
    await workbench.page.keyboard.press("Escape").catch(() => undefined);
  } else {
    count.passed += 1;
    console.log(`ok ${window}: ${title} (${seconds} s${again})`);
  }
}

/** What a check throws, if it does. */
async function attempt(workbench, body) {
  try {
    await body(workbench);
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Removes what an earlier run left, and nothing else. */
function clearArtifacts() {
  mkdirSync(options.artifacts, { recursive: true });
  for (const name of readdirSync(options.artifacts)) {
    if (/^\d\d-\w+-.*\.(png|log)$/.test(name)) {
      rmSync(join(options.artifacts, name));
    }
  }
}

function copyWorkspace(name) {
  const folder = join(scratch, name);
  cpSync(options.workspace, folder, { recursive: true });
  return folder;
}

function readArguments() {
  const names = ["host", "server", "vsix", "workspace", "artifacts"];
  try {
    const { values } = parseArgs({
      options: Object.fromEntries([...names, "only"].map((name) => [name, { type: "string" }])),
    });
    for (const name of names) {
      if (values[name] === undefined) {
        throw new Error(`--${name} is missing`);
      }
      values[name] = resolve(values[name]);
      if (name !== "artifacts" && !existsSync(values[name])) {
        throw new Error(`--${name}: there is no ${values[name]}`);
      }
    }
    return values;
  } catch (error) {
    console.error(
      `${error.message}\nusage: run.mjs ${names.map((name) => `--${name} PATH`).join(" ")}`,
    );
    process.exit(2);
  }
}
