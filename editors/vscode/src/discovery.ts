/**
 * Which `tileperf` program to run.
 *
 * The first place that names one decides: a setting or an environment variable that points nowhere
 * is an error, not a reason to run some other program. Nothing here knows VS Code, so that the order
 * is tested without one; nothing here reads the workspace, so that opening a folder can never choose
 * the program that runs.
 */

import * as path from "node:path";

/** Where the path of a server came from. */
export type Origin = "setting" | "bundled" | "environment" | "path";

/** How `Origin` reads in messages. */
export const ORIGIN_TEXT: Record<Origin, string> = {
  setting: "setting tileperf.server.path",
  bundled: "bundled with the extension",
  environment: "environment variable TILEPERF_SERVER_PATH",
  path: "found on PATH",
};

/** A program to try. */
export interface Candidate {
  readonly origin: Origin;
  readonly path: string;
}

/** Why there is none, in words for a user. */
export interface Problem {
  readonly problem: string;
}

/** Everything the choice depends on. */
export interface Surroundings {
  /** The user's own setting; never a workspace's. */
  readonly setting: string | undefined;
  /** The folder that holds a packed server, if the extension was packed with one. */
  readonly bundleFolder: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly isFile: (path: string) => boolean;
}

/** The outcome of running a program: what it printed, or why it could not. */
export type Run = (program: string, args: readonly string[]) => Promise<string>;

/** Finds the server: setting, then bundled, then environment, then PATH. */
export function locate(from: Surroundings): Candidate | Problem {
  const paths = from.platform === "win32" ? path.win32 : path.posix;
  const program = from.platform === "win32" ? "tileperf.exe" : "tileperf";

  const setting = named(from, "setting", from.setting);
  if (setting) {
    return setting;
  }
  const bundled = paths.join(from.bundleFolder, program);
  if (from.isFile(bundled)) {
    return { origin: "bundled", path: bundled };
  }
  const environment = named(from, "environment", from.environment.TILEPERF_SERVER_PATH);
  if (environment) {
    return environment;
  }
  for (const folder of pathFolders(from)) {
    const file = paths.join(folder, program);
    if (from.isFile(file)) {
      return { origin: "path", path: file };
    }
  }
  return {
    problem:
      "The tileperf server was not found: this extension was packed without one, and neither " +
      "TILEPERF_SERVER_PATH nor PATH leads to one. Install tileperf, or set tileperf.server.path.",
  };
}

/** Asks the program who it is; its version, or why it cannot be the server. */
export async function probe(
  candidate: Candidate,
  run: Run,
): Promise<{ readonly version: string } | Problem> {
  const where = `${candidate.path} (${ORIGIN_TEXT[candidate.origin]})`;
  let output: string;
  try {
    output = await run(candidate.path, ["--version"]);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { problem: `The tileperf server ${where} does not run: ${reason}` };
  }
  const version = /^tileperf (\S+)/.exec(output)?.[1];
  if (version === undefined) {
    const said = output.trim().split("\n", 1)[0]?.slice(0, 80) ?? "";
    return { problem: `${where} is not tileperf: asked for its version it said "${said}".` };
  }
  return { version };
}

function named(
  from: Surroundings,
  origin: "setting" | "environment",
  value: string | undefined,
): Candidate | Problem | undefined {
  const paths = from.platform === "win32" ? path.win32 : path.posix;
  const trimmed = value?.trim() ?? "";
  if (trimmed === "") {
    return undefined;
  }
  const expanded = /^~(?=[/\\]|$)/.test(trimmed) ? from.home + trimmed.slice(1) : trimmed;
  // A relative path would mean another program in every folder that is opened.
  if (!paths.isAbsolute(expanded)) {
    return { problem: `The ${ORIGIN_TEXT[origin]} must be an absolute path; it is "${trimmed}".` };
  }
  if (!from.isFile(expanded)) {
    return { problem: `The ${ORIGIN_TEXT[origin]} names ${expanded}, and there is no such file.` };
  }
  return { origin, path: expanded };
}

/** The absolute folders of PATH: an empty or relative entry would mean the workspace. */
function pathFolders(from: Surroundings): string[] {
  const paths = from.platform === "win32" ? path.win32 : path.posix;
  // Windows spells the variable "Path", and only process.env itself ignores case.
  const name = Object.keys(from.environment).find((key) =>
    from.platform === "win32" ? key.toUpperCase() === "PATH" : key === "PATH",
  );
  const value = name === undefined ? undefined : from.environment[name];
  return (value ?? "").split(paths.delimiter).filter((folder) => paths.isAbsolute(folder));
}
