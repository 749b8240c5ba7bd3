/**
 * The context key for the menus: commands about kernels show up once there may be kernels.
 */

import * as vscode from "vscode";
import type { Server } from "./server";

const AWAKE = "tileperf.awake";

/** Keeps the key in step with the server. */
export function setAwakeContext(server: Server): vscode.Disposable {
  let awake: boolean | undefined;
  const update = (): void => {
    const { state } = server;
    const now = state.kind === "running" && state.status.state !== "dormant";
    if (now !== awake) {
      awake = now;
      void vscode.commands.executeCommand("setContext", AWAKE, now);
    }
  };
  update();
  return server.onDidChange(update);
}
