/**
 * The commands about the compiler: "Doctor", and "Install Compiler Toolchain".
 *
 * Both are the server's work. It asks before it downloads anything, in this editor's own message, and
 * shows its progress there; what comes back here is an error at most.
 */

import * as vscode from "vscode";
import { ExecuteCommandRequest } from "vscode-languageclient/node";
import { EDITOR_DESK } from "./perf/desk";
import type { CommandAnswer } from "./perf/protocol";
import type { ReadOnlyTexts } from "./readOnlyTexts";
import type { Server } from "./server";

const DOCTOR_COMMAND = "tileperf.doctor";
const INSTALL_COMMAND = "tileperf.installToolchain";
const DOCUMENT = "tileperf doctor.md";

/** Registers both. */
export function registerToolchain(server: Server, texts: ReadOnlyTexts): vscode.Disposable {
  const run = (command: string): Promise<CommandAnswer> =>
    server.request<CommandAnswer>(ExecuteCommandRequest.method, { command, arguments: [] });
  return vscode.Disposable.from(
    vscode.commands.registerCommand(DOCTOR_COMMAND, () =>
      refusing(async () => {
        const looking = run(DOCTOR_COMMAND);
        vscode.window.setStatusBarMessage("tileperf: looking at what is installed", looking);
        const { content } = await looking;
        await texts.show(DOCUMENT, () => content ?? "");
      }),
    ),
    vscode.commands.registerCommand(INSTALL_COMMAND, () =>
      refusing(async () => {
        if (!vscode.workspace.isTrusted) {
          EDITOR_DESK.refuseUntrusted();
          return;
        }
        await run(INSTALL_COMMAND);
      }),
    ),
  );
}

/** Shows why something could not be done. */
async function refusing(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    EDITOR_DESK.refuse(`tileperf: ${error instanceof Error ? error.message : String(error)}`);
  }
}
