/**
 * What hovering over a kernel's results shows: every configuration with its interval.
 */

import { plain } from "../markdown";
import type { MeasuredOn, Result, SessionState } from "./protocol";
import { compared, labels, measure, percent, progress, runName } from "./words";

const UNKNOWN = "–";

/** The whole text, Markdown without commands. */
export function hoverText(state: SessionState): string {
  const { run, latency } = state;
  const paragraphs = [title(state)];
  if (run) {
    paragraphs.push(
      plain(state.running && run.state === "running" ? `${progress(run)}.` : run.sentence),
    );
  }
  if (latency) {
    paragraphs.push(plain(latency.text));
  }
  if (state.stale) {
    paragraphs.push(
      `**Stale**: ${plain(state.staleReason ?? "the code is not what was measured")}`,
    );
  }
  if (state.results.length > 0) {
    paragraphs.push(resultTable(state.results));
    if (state.measuredOn) {
      paragraphs.push(conditions(state.measuredOn));
    }
  } else if (state.table) {
    paragraphs.push(state.table);
  }
  if (state.failures.length > 0) {
    paragraphs.push(
      [
        "**Failing tests**",
        ...state.failures.map(({ test, message, cause }) => {
          const why = cause ? ` (likely cause: ${plain(cause)})` : "";
          return `- ${plain(test)}: ${plain(message)}${why}`;
        }),
      ].join("\n"),
    );
  }
  if (state.phase === "stopped") {
    paragraphs.push(`Stopped: ${plain(state.stopReason ?? "by the user")}`);
  }
  return paragraphs.join("\n\n");
}

/** One row a configuration. */
export function resultTable(results: readonly Result[]): string {
  const names = labels(results);
  const rows = results.map((result, index) =>
    [
      plain(names[index] ?? result.short),
      value(result.base, result),
      value(result.candidate, result),
      change(result),
      plain(result.verdict),
    ].join(" | "),
  );
  return [
    "| Configuration | Base | Candidate | Change | Verdict |",
    "|:--|--:|--:|--:|:--|",
    ...rows.map((row) => `| ${row} |`),
  ].join("\n");
}

/** Where, when and how well it was measured. */
function conditions({ of, device, at, pairs, detectable }: MeasuredOn): string {
  const moment = at.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d).*Z$/, "$1 $2 UTC");
  const noise =
    typeof detectable === "number"
      ? `; changes of ${(detectable * 100).toFixed(1)} % and more can be told from noise`
      : "";
  return plain(`Measured in ${of}, on ${device}, ${moment}: ${pairs} pairs or more${noise}.`);
}

function title({ kernel, run }: SessionState): string {
  const change = run?.optimization ? `: ${plain(run.optimization)}` : "";
  return `**${plain(kernel)}**${run ? ` · ${runName(run)}${change}` : ""}`;
}

function value(number: number | null | undefined, { unit }: Result): string {
  return typeof number === "number" ? measure(number, unit) : UNKNOWN;
}

function change(result: Result): string {
  if (!compared(result)) {
    return UNKNOWN;
  }
  const interval =
    typeof result.low === "number" && typeof result.high === "number"
      ? ` (${percent(result.low)} to ${percent(result.high)})`
      : "";
  return percent(result.change) + interval;
}
