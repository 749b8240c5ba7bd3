/**
 * The extension's entry: wires settings, server, status item and commands together.
 *
 * Everything a user sees about kernels comes from the server over the Language Server Protocol; the
 * extension only finds it, starts it and says how it is.
 */

import * as vscode from "vscode";
import { registerCheckWorkspace } from "./checkWorkspace";
import { Settings } from "./configuration";
import { setAwakeContext } from "./context";
import { Perf } from "./perf/feature";
import { ReadOnlyTexts } from "./readOnlyTexts";
import { Server } from "./server";
import { registerShowServerInfo } from "./showServerInfo";
import { registerShowUses } from "./showUses";
import { registerSignatures } from "./signatures";
import { createStatusItem } from "./statusItem";
import { registerToolchain } from "./toolchain";

let running: Server | undefined;

/** Called by the editor when the first Python file is opened. */
export function activate(context: vscode.ExtensionContext): void {
  const manifest = context.extension.packageJSON as { version: string };
  const log = vscode.window.createOutputChannel("tileperf", "log");
  const settings = new Settings(manifest);
  const server = new Server(context.extensionPath, settings, log);
  const perf = new Perf(server);
  const texts = new ReadOnlyTexts();
  running = server;

  context.subscriptions.push(
    log,
    server,
    perf,
    texts,
    createStatusItem(server, settings, perf),
    setAwakeContext(server),
    registerCheckWorkspace(server),
    registerShowServerInfo(server, texts, manifest.version),
    registerShowUses(),
    registerSignatures(server),
    registerToolchain(server, texts),
    vscode.commands.registerCommand("tileperf.restart", () => server.restart()),
    vscode.commands.registerCommand("tileperf.showLog", () => {
      log.show();
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => server.configurationChanged()),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration("tileperf")) {
        await server.configurationChanged();
      }
    }),
  );
  // Not awaited: the editor need not wait for the server, only the server's features do.
  void server.restart();
}

/** Called by the editor when it closes; it waits a few seconds for the promise. */
export function deactivate(): Promise<void> | undefined {
  return running?.stop();
}
