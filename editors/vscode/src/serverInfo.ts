/**
 * The text behind "Show Server Info": everything a bug report about the server should hold.
 */

import { ORIGIN_TEXT } from "./discovery";
import { problemTexts } from "./protocol";
import type { ServerState } from "./status";

/** Renders the state as Markdown, with whatever the server did not tell left out. */
export function serverInfoText(
  state: ServerState,
  trusted: boolean,
  editor: { readonly name: string; readonly version: string; readonly extension: string },
): string {
  const lines = ["# tileperf server", ""];
  const fact = (name: string, value: string | number | null | undefined): void => {
    if (value !== undefined && value !== null && value !== "") {
      lines.push(`- ${name}: ${value}`);
    }
  };
  const problems: string[] = [];

  switch (state.kind) {
    case "starting":
      fact("State", "starting");
      break;
    case "failed":
      fact("State", "not running");
      problems.push(state.problem);
      break;
    case "running": {
      const { status, info } = state;
      fact("State", status.state);
      fact("Message", status.message);
      fact("Version", info?.version ?? state.version);
      fact("Path", state.server.path);
      fact("How it was found", ORIGIN_TEXT[state.server.origin]);
      fact("Process", info?.pid);
      fact("Position encoding", info?.encoding);
      fact("Python files", info?.files ?? status.files);
      fact("Kernels", info?.kernels ?? status.kernels);
      fact("First index", info?.indexSeconds == null ? null : seconds(info.indexSeconds));
      fact("Compiler", info?.compiler);
      fact("Being compiled", info?.compiling?.join(", "));
      problems.push(...problemTexts(info));
    }
  }
  fact("Workspace trusted", trusted ? "yes" : "no: nothing of it is compiled or run");
  fact("Extension", editor.extension);
  fact("Editor", `${editor.name} ${editor.version}`);

  if (problems.length > 0) {
    lines.push("", "## Problems", "", ...problems.map((text) => `- ${text}`));
  }
  if (state.kind === "running" && state.info?.settings) {
    const settings = JSON.stringify(state.info.settings, undefined, 2);
    lines.push("", "## Settings in effect", "", "```json", settings, "```");
  }
  return lines.join("\n") + "\n";
}

function seconds(value: number): string {
  return `${value.toFixed(value < 1 ? 3 : 1)} s`;
}
