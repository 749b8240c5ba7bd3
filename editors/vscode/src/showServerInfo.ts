/**
 * The command "Show Server Info": a read-only document, so that it can be copied into a bug report.
 */

import * as vscode from "vscode";
import type { ReadOnlyTexts } from "./readOnlyTexts";
import type { Server } from "./server";
import { serverInfoText } from "./serverInfo";

const DOCUMENT = "tileperf server.md";

/** Registers the command. */
export function registerShowServerInfo(
  server: Server,
  texts: ReadOnlyTexts,
  extension: string,
): vscode.Disposable {
  const text = (): string =>
    serverInfoText(server.state, vscode.workspace.isTrusted, {
      name: vscode.env.appName,
      version: vscode.version,
      extension,
    });
  return vscode.Disposable.from(
    server.onDidChange(() => {
      texts.refresh(DOCUMENT);
    }),
    vscode.commands.registerCommand("tileperf.showServerInfo", async () => {
      await server.refreshInfo();
      await texts.show(DOCUMENT, text);
    }),
  );
}
