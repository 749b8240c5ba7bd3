/**
 * What the status item says. Its job is to answer "why do I see nothing?" without a log: the server
 * is absent, still indexing, found no kernel, complains about a setting, or works.
 */

import { ORIGIN_TEXT, type Candidate } from "./discovery";
import { plain } from "./markdown";
import type { SessionState } from "./perf/protocol";
import { progress } from "./perf/words";
import { problemTexts, type ServerInfo, type ServerStatus } from "./protocol";

/** The server as the extension sees it. */
export type ServerState =
  | { readonly kind: "starting" }
  | {
      readonly kind: "running";
      readonly server: Candidate;
      readonly version: string;
      readonly status: ServerStatus;
      readonly info: ServerInfo | undefined;
    }
  | { readonly kind: "failed"; readonly problem: string };

/** One rendering of the status item; the tooltip is Markdown. */
export interface StatusView {
  readonly text: string;
  readonly tooltip: string;
  readonly severity: "ordinary" | "warning" | "error";
}

/** What to show, or undefined for no item at all. `surfacesOff` are the settings that hide something,
 * `runs` the sessions at work. */
export function statusView(
  state: ServerState,
  trusted: boolean,
  surfacesOff: readonly string[],
  runs: readonly SessionState[] = [],
): StatusView | undefined {
  switch (state.kind) {
    case "starting":
      return undefined;
    case "failed":
      return {
        text: "$(error) tileperf: no server",
        tooltip: plain(state.problem),
        severity: "error",
      };
    case "running":
      return running(state, trusted, surfacesOff, runs);
  }
}

function running(
  state: Extract<ServerState, { kind: "running" }>,
  trusted: boolean,
  surfacesOff: readonly string[],
  runs: readonly SessionState[],
): StatusView | undefined {
  const { status } = state;
  // A workspace without kernels should not notice that the extension is installed.
  if (status.state === "dormant") {
    return undefined;
  }
  const problems = problemTexts(state.info);
  const severity =
    status.state === "error" ? "error" : problems.length > 0 ? "warning" : "ordinary";

  const paragraphs = [summary(status), ...runs.map(runText)];
  if (problems.length > 0) {
    paragraphs.push(["**Settings**", ...problems.map((text) => `- ${plain(text)}`)].join("\n"));
  }
  if (surfacesOff.length > 0) {
    paragraphs.push(`Switched off: ${surfacesOff.map((name) => `\`${name}\``).join(", ")}`);
  }
  if (!trusted) {
    paragraphs.push("Restricted mode: nothing of this workspace is compiled or run.");
  }
  paragraphs.push(
    `tileperf ${plain(state.version)}, ${ORIGIN_TEXT[state.server.origin]}  \n\`${state.server.path}\``,
  );
  return { text: label(status, severity, runs), tooltip: paragraphs.join("\n\n"), severity };
}

function label(
  status: ServerStatus,
  severity: StatusView["severity"],
  runs: readonly SessionState[],
): string {
  if (status.state === "error") {
    return "$(error) tileperf: error";
  }
  const [only] = runs;
  if (only) {
    const what = runs.length > 1 ? `${runs.length} perf runs` : workText(only);
    return `$(sync~spin) tileperf: ${what}`;
  }
  if (status.state === "indexing") {
    return "$(sync~spin) tileperf: indexing";
  }
  const icon = severity === "warning" ? "$(warning) " : "";
  return `${icon}tileperf: ${count(status.kernels, "kernel")}`;
}

function summary(status: ServerStatus): string {
  if (status.message) {
    return plain(status.message);
  }
  const files = typeof status.files === "number" ? ` in ${count(status.files, "Python file")}` : "";
  switch (status.state) {
    case "indexing":
      return `Looking for kernels${files}.`;
    case "error":
      return "The server reports an error; its log says more.";
    default:
      return status.kernels
        ? `Found ${count(status.kernels, "kernel")}${files}.`
        : `No cuTile kernel was found${files}.`;
  }
}

/** "**scale_kernel** iteration 3: measuring, 60 pairs". */
function runText(state: SessionState): string {
  return `**${plain(state.kernel)}** ${plain(workText(state))}`;
}

function workText({ run }: SessionState): string {
  return run?.state === "running" ? progress(run) : "starting";
}

/** "no kernels", "1 kernel", "12 kernels". */
export function count(number: number | null | undefined, noun: string): string {
  if (!number) {
    return `no ${noun}s`;
  }
  return number === 1 ? `1 ${noun}` : `${number} ${noun}s`;
}
