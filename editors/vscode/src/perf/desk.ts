/**
 * The desk of `conduct` in VS Code: its questions, messages and documents.
 */

import * as vscode from "vscode";
import { DOCUMENTS } from "../server";
import type { Choice, Desk } from "./conduct";

const MESSAGE_MS = 8000;

/** Everything of a desk that needs only the editor. */
export const EDITOR_DESK = {
  trusted: () => vscode.workspace.isTrusted,

  active: () => {
    const editor = vscode.window.activeTextEditor;
    if (!editor || vscode.languages.match(DOCUMENTS, editor.document) === 0) {
      return undefined;
    }
    const { line, character } = editor.selection.active;
    return { uri: editor.document.uri.toString(), position: { line, character } };
  },

  save: async (uri: string) => {
    const wanted = vscode.Uri.parse(uri).toString();
    const document = vscode.workspace.textDocuments.find((one) => one.uri.toString() === wanted);
    return document === undefined || !document.isDirty || (await document.save());
  },

  pick: async <T>(title: string, choices: readonly Choice<T>[]) => {
    const chosen = await vscode.window.showQuickPick(choices, { title, placeHolder: title });
    return chosen?.value;
  },

  input: async (prompt: string, placeHolder: string) =>
    vscode.window.showInputBox({ prompt, placeHolder }),

  confirm: async (question: string, detail: string, action: string) => {
    const how = { modal: true, detail };
    return (await vscode.window.showWarningMessage(question, how, action)) === action;
  },

  inform: (message: string) => {
    void vscode.window.showInformationMessage(message);
  },

  refuse: (message: string) => {
    void vscode.window.showErrorMessage(message);
  },

  refuseUntrusted: () => {
    void manageTrust();
  },

  showText: async (content: string) => {
    const document = await vscode.workspace.openTextDocument({ language: "markdown", content });
    await vscode.window.showTextDocument(document, { preview: true });
  },
} satisfies Partial<Desk>;

/** A line in the status bar for a while: the progress of the run takes over. */
export function mention(message: string): void {
  vscode.window.setStatusBarMessage(message, MESSAGE_MS);
}

async function manageTrust(): Promise<void> {
  const manage = "Manage Workspace Trust";
  const message = "tileperf runs code of this workspace only once the workspace is trusted.";
  if ((await vscode.window.showErrorMessage(message, manage)) === manage) {
    await vscode.commands.executeCommand("workbench.trust.manage");
  }
}
