/**
 * "Show Compiled Code For…": the user picks the signature for which a kernel's compiled code is shown.
 *
 * The server knows the signatures and keeps the choice for its session. The lens and the code action
 * that open this are offered only to a client that lists the command.
 */

import * as vscode from "vscode";
import { ExecuteCommandRequest, type Position } from "vscode-languageclient/node";
import { EDITOR_DESK } from "./perf/desk";
import { CHOOSE_SIGNATURE_COMMAND, type KernelSignatures } from "./protocol";
import type { Server } from "./server";

const LIST_COMMAND = "tileperf.signatures";
const SHOW_COMMAND = "tileperf.showSignature";

/** A place in a kernel. */
interface Place {
  readonly uri: string;
  readonly position: Position;
}

export function registerSignatures(server: Server): vscode.Disposable {
  return vscode.commands.registerCommand(CHOOSE_SIGNATURE_COMMAND, async (given?: Place) => {
    const place = given ?? EDITOR_DESK.active();
    if (place === undefined) {
      EDITOR_DESK.refuse("tileperf: open a file with kernels first");
      return;
    }
    try {
      await choose(server, place);
    } catch (error) {
      EDITOR_DESK.refuse(`tileperf: ${error instanceof Error ? error.message : String(error)}`);
    }
  });
}

async function choose(server: Server, place: Place): Promise<void> {
  const execute = <T>(command: string, argument: object): Promise<T> =>
    server.request<T>(ExecuteCommandRequest.method, { command, arguments: [argument] });
  const { kernel, ordinal, signatures } = await execute<KernelSignatures>(LIST_COMMAND, place);
  const items = signatures.map((one) => ({
    label: one.signature,
    description: one.shown ? `${one.origin}, shown` : one.origin,
    detail: one.assumed,
    one,
  }));
  const title = `Show compiled code of ${kernel} for`;
  const picked = await vscode.window.showQuickPick(items, { title, matchOnDescription: true });
  if (picked !== undefined) {
    const { number, signature } = picked.one;
    const { uri } = place;
    await execute(SHOW_COMMAND, { uri, kernel, ordinal, number, signature });
  }
}
