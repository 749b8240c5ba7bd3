/**
 * The status bar item of Python files. What it says is decided in `status`; here it is put on screen.
 */

import * as vscode from "vscode";
import type { Settings } from "./configuration";
import type { Perf } from "./perf/feature";
import { DOCUMENTS, type Server } from "./server";
import { surfacesOff } from "./settings";
import { statusView } from "./status";

const BACKGROUND = {
  ordinary: undefined,
  warning: new vscode.ThemeColor("statusBarItem.warningBackground"),
  error: new vscode.ThemeColor("statusBarItem.errorBackground"),
};

/** Shows the item, keeps it current, and hides it beside files of other languages unless something
 * runs. */
export function createStatusItem(
  server: Server,
  settings: Settings,
  perf: Perf,
): vscode.Disposable {
  const item = vscode.window.createStatusBarItem("status", vscode.StatusBarAlignment.Right, 100);
  item.name = "tileperf";
  item.command = "tileperf.showServerInfo";

  const update = (): void => {
    const document = vscode.window.activeTextEditor?.document;
    const python = document !== undefined && vscode.languages.match(DOCUMENTS, document) > 0;
    const off = surfacesOff(settings.values());
    const runs = perf.running();
    const view =
      python || runs.length > 0
        ? statusView(server.state, vscode.workspace.isTrusted, off, runs)
        : undefined;
    if (!view) {
      item.hide();
      return;
    }
    item.text = view.text;
    item.tooltip = new vscode.MarkdownString(view.tooltip);
    item.backgroundColor = BACKGROUND[view.severity];
    item.show();
  };

  update();
  return vscode.Disposable.from(
    item,
    server.onDidChange(update),
    perf.onDidChange(update),
    vscode.window.onDidChangeActiveTextEditor(update),
    vscode.workspace.onDidGrantWorkspaceTrust(update),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("tileperf")) {
        update();
      }
    }),
  );
}
