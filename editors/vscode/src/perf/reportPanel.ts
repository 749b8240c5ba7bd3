/**
 * The panels with reports: one a session, brought up to date after each run.
 */

import * as vscode from "vscode";
import { secured } from "./reportPage";

export class ReportPanels implements vscode.Disposable {
  readonly #panels = new Map<string, vscode.WebviewPanel>();

  /** Shows a session's report beside the code, in the panel that is there already if there is one. */
  show(session: string, title: string, page: string): void {
    const there = this.#panels.get(session);
    if (there) {
      there.webview.html = secured(page);
      there.reveal(undefined, true);
      return;
    }
    const panel = vscode.window.createWebviewPanel(
      "tileperf.report",
      title,
      { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
      { enableScripts: false, enableCommandUris: false, localResourceRoots: [] },
    );
    panel.webview.html = secured(page);
    panel.onDidDispose(() => this.#panels.delete(session));
    this.#panels.set(session, panel);
  }

  /** Whether a panel shows this session. */
  has(session: string): boolean {
    return this.#panels.has(session);
  }

  /** Replaces what a panel shows, without bringing it forward. */
  update(session: string, page: string): void {
    const panel = this.#panels.get(session);
    if (panel) {
      panel.webview.html = secured(page);
    }
  }

  dispose(): void {
    for (const panel of [...this.#panels.values()]) {
      panel.dispose();
    }
  }
}
