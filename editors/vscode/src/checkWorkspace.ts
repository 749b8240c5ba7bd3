/**
 * The command "Check Workspace": findings for files that are not open, in the list of problems.
 */

import * as vscode from "vscode";
import { ExecuteCommandRequest } from "vscode-languageclient/node";
import type { Server } from "./server";

const COMMAND = "tileperf.checkWorkspace";

/** Registers the command. */
export function registerCheckWorkspace(server: Server): vscode.Disposable {
  return vscode.commands.registerCommand(COMMAND, async () => {
    try {
      const answer = await server.request<{ message: string }>(ExecuteCommandRequest.method, {
        command: COMMAND,
        arguments: [],
      });
      // Not `workbench.actions.view.problems`, which closes the list where it has the focus.
      await vscode.commands.executeCommand("workbench.panel.markers.view.focus");
      void vscode.window.showInformationMessage(`tileperf: ${answer.message}`);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      void vscode.window.showErrorMessage(`tileperf: ${reason}`);
    }
  });
}
