/**
 * The server's process. The extension owns it rather than the language client, so that a server
 * that never answers can still be ended, and so that its last words reach the log.
 */

import { type ChildProcessWithoutNullStreams, execFile, spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** How long a program may take to print its version. */
const VERSION_LIMIT_MS = 10_000;

/** A started server. */
export interface ServerProcess {
  readonly child: ChildProcessWithoutNullStreams;
  /** Resolves with the reason when the process is gone, or could not start at all. */
  readonly gone: Promise<string>;
}

/** Starts `program lsp`; every line it writes to standard error goes to `log`. */
export function startServer(
  program: string,
  cwd: string,
  log: (line: string) => void,
): ServerProcess {
  // Not the workspace: Windows searches the current folder for libraries.
  const child = spawn(program, ["lsp"], { cwd, stdio: "pipe", windowsHide: true });
  createInterface({ input: child.stderr }).on("line", log);
  // Writing to a process that has just died is no fault of the writer.
  child.stdin.on("error", () => undefined);
  const gone = new Promise<string>((resolve) => {
    child.once("error", (error) => {
      resolve(error.message);
    });
    child.once("exit", (code, signal) => {
      resolve(signal ? `ended by ${signal}` : `exit code ${code ?? "unknown"}`);
    });
  });
  return { child, gone };
}

/** Waits `graceMs` for the process to end by itself, then ends it. */
export async function endServer(server: ServerProcess, graceMs: number): Promise<void> {
  if (await settles(server.gone, graceMs)) {
    return;
  }
  server.child.kill("SIGKILL");
  await server.gone;
}

/** Whether `promise` settles within `limitMs`, in whichever way. */
export async function settles(promise: Promise<unknown>, limitMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, limitMs, false);
  });
  try {
    return await Promise.race([
      promise.then(
        () => true,
        () => true,
      ),
      limit,
    ]);
  } finally {
    clearTimeout(timer);
  }
}

/** Runs a program to its end and returns what it printed. */
export function runToEnd(program: string, args: readonly string[], cwd: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = {
      cwd,
      timeout: VERSION_LIMIT_MS,
      killSignal: "SIGKILL",
      windowsHide: true,
    } as const;
    execFile(program, args, options, (error, stdout, stderr) => {
      if (!error) {
        resolve(stdout);
      } else if (error.killed) {
        reject(new Error(`no answer within ${VERSION_LIMIT_MS / 1000} seconds`));
      } else {
        // Node's own message repeats the command line; what the program said is the reason.
        const said = stderr.trim().split("\n", 1)[0];
        const code = error.code === undefined ? "" : ` (${error.code})`;
        reject(new Error(said ? `${said}${code}` : error.message));
      }
    });
  });
}
