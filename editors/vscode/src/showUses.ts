/**
 * What a click on a lens does: the uses of its kernel in the editor's own list of references.
 *
 * The server names this command in its lenses only for a client that lists it, so that editors
 * without it show plain text.
 */

import * as vscode from "vscode";
import type { Location, Position } from "vscode-languageclient/node";
import { SHOW_USES_COMMAND } from "./protocol";

export function registerShowUses(): vscode.Disposable {
  return vscode.commands.registerCommand(
    SHOW_USES_COMMAND,
    (uri: string, at: Position, uses: readonly Location[]) =>
      vscode.commands.executeCommand(
        "editor.action.showReferences",
        vscode.Uri.parse(uri),
        new vscode.Position(at.line, at.character),
        uses.map(
          ({ uri, range: { start, end } }) =>
            new vscode.Location(
              vscode.Uri.parse(uri),
              new vscode.Range(start.line, start.character, end.line, end.character),
            ),
        ),
      ),
  );
}
