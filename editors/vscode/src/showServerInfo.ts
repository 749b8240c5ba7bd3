/**
 * The command "Show Server Info": a read-only document, so that it can be copied into a bug report.
 */

import * as vscode from "vscode";
import type { Server } from "./server";
import { serverInfoText } from "./serverInfo";

const DOCUMENT = vscode.Uri.parse("tileperf:tileperf server.md");

/** Registers the command and the document behind it. */
export function registerShowServerInfo(server: Server, extension: string): vscode.Disposable {
  const changed = new vscode.EventEmitter<vscode.Uri>();
  const provider: vscode.TextDocumentContentProvider = {
    onDidChange: changed.event,
    provideTextDocumentContent: () =>
      serverInfoText(server.state, vscode.workspace.isTrusted, {
        name: vscode.env.appName,
        version: vscode.version,
        extension,
      }),
  };
  return vscode.Disposable.from(
    changed,
    vscode.workspace.registerTextDocumentContentProvider(DOCUMENT.scheme, provider),
    server.onDidChange(() => {
      changed.fire(DOCUMENT);
    }),
    vscode.commands.registerCommand("tileperf.showServerInfo", async () => {
      await server.refreshInfo();
      changed.fire(DOCUMENT);
      const document = await vscode.workspace.openTextDocument(DOCUMENT);
      await vscode.window.showTextDocument(document, { preview: true });
    }),
  );
}
