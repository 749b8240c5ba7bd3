/**
 * What the editor tells the server: the settings that someone has set, and whether the workspace is
 * trusted.
 */

import * as vscode from "vscode";
import type { Configuration } from "./protocol";
import { nest, serverKeys } from "./settings";

/** Reads the editor's settings through the manifest's list of them. */
export class Settings {
  readonly #keys: readonly string[];

  constructor(manifest: unknown) {
    this.#keys = serverKeys(manifest);
  }

  /** For the server: only what is set, so that defaults do not outrank `tileperf.toml`. */
  configuration(): Configuration {
    const section = vscode.workspace.getConfiguration("tileperf");
    const set = this.#keys.filter((key) => isSet(section, key));
    const settings = nest(set.map((key) => [key, section.get<unknown>(key)] as const));
    return { trusted: vscode.workspace.isTrusted, settings };
  }

  /** Every key with its value in effect. */
  values(): [string, unknown][] {
    const section = vscode.workspace.getConfiguration("tileperf");
    return this.#keys.map((key) => [key, section.get<unknown>(key)]);
  }

  /** The user's choice of a server; a workspace's is never looked at. */
  serverPath(): string | undefined {
    const setting = vscode.workspace.getConfiguration("tileperf").inspect<string>("server.path");
    return setting?.globalValue;
  }
}

function isSet(section: vscode.WorkspaceConfiguration, key: string): boolean {
  const value = section.inspect(key);
  return (
    value?.globalValue !== undefined ||
    value?.workspaceValue !== undefined ||
    value?.workspaceFolderValue !== undefined
  );
}
