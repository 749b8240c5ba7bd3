/**
 * Puts the results of a kernel at the end of its `def` line. What it says is decided in
 * `inlineText` and `hoverText`.
 */

import * as vscode from "vscode";
import { hoverText } from "./hoverText";
import { type Inline, inline, type Tone } from "./inlineText";
import { kernelLine } from "./kernelLine";
import type { CommandArgument, SessionState } from "./protocol";
import { leading } from "./sessions";
import { REPORT_COMMAND, STOP_COMMAND } from "./verbs";

const COLOURS: Record<Tone, vscode.ThemeColor> = {
  better: new vscode.ThemeColor("charts.green"),
  worse: new vscode.ThemeColor("editorWarning.foreground"),
  neutral: new vscode.ThemeColor("editorCodeLens.foreground"),
  running: new vscode.ThemeColor("editorInfo.foreground"),
};
const STALE = new vscode.ThemeColor("editorInlayHint.foreground");

/** Where the states come from. */
export interface States {
  readonly all: () => readonly SessionState[];
  readonly onDidChange: vscode.Event<void>;
}

/** Shows the results in every visible editor, for as long as it is not disposed of. */
export function decorate(states: States): vscode.Disposable {
  const type = vscode.window.createTextEditorDecorationType({
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
  });
  const decorated = new WeakSet<vscode.TextEditor>();

  const update = (editor: vscode.TextEditor): void => {
    const uri = editor.document.uri.toString();
    const here = states.all().filter((state) => vscode.Uri.parse(state.uri).toString() === uri);
    // An editor that never had any must not pay for each key typed into it.
    if (here.length === 0 && !decorated.has(editor)) {
      return;
    }
    decorated.add(editor);
    editor.setDecorations(type, shown() ? options(editor.document, here) : []);
  };
  const updateAll = (): void => {
    vscode.window.visibleTextEditors.forEach(update);
  };

  updateAll();
  return vscode.Disposable.from(
    type,
    states.onDidChange(updateAll),
    vscode.window.onDidChangeVisibleTextEditors(updateAll),
    vscode.workspace.onDidChangeTextDocument(({ document }) => {
      vscode.window.visibleTextEditors
        .filter((editor) => editor.document === document)
        .forEach(update);
    }),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("tileperf")) {
        updateAll();
      }
    }),
  );
}

function options(
  document: vscode.TextDocument,
  states: readonly SessionState[],
): vscode.DecorationOptions[] {
  const lines = {
    lineCount: document.lineCount,
    text: (line: number) => document.lineAt(line).text,
  };
  return leading(states).flatMap((state) => {
    const content = inline(state);
    const line = kernelLine(lines, state.kernel, state.range.start.line);
    if (!content || line === undefined) {
      return [];
    }
    const { end } = document.lineAt(line).range;
    return [
      {
        range: new vscode.Range(end, end),
        renderOptions: { after: look(content) },
        ...(hovers() ? { hoverMessage: hover(state) } : {}),
      },
    ];
  });
}

function look({ text, tone, stale }: Inline): vscode.ThemableDecorationAttachmentRenderOptions {
  return {
    contentText: text,
    margin: "0 0 0 2em",
    color: stale ? STALE : COLOURS[tone],
    ...(stale ? { fontStyle: "italic" } : {}),
  };
}

/** The results, and below them the commands. Only the latter may run commands: the former hold names
 * that the workspace chose. */
function hover(state: SessionState): vscode.MarkdownString[] {
  const links = [link("Report", REPORT_COMMAND, state, { form: "html" })];
  if (state.running) {
    links.push(link("Stop", STOP_COMMAND, state));
  }
  const commands = new vscode.MarkdownString(links.join(" · "));
  commands.isTrusted = { enabledCommands: [REPORT_COMMAND, STOP_COMMAND] };
  return [new vscode.MarkdownString(hoverText(state)), commands];
}

function link(
  title: string,
  command: string,
  { session }: SessionState,
  more: CommandArgument = {},
): string {
  const argument: CommandArgument = { session, ...more };
  return `[${title}](command:${command}?${encodeURIComponent(JSON.stringify([argument]))})`;
}

/** Hints at the end of lines are what this is, to whoever switches them off. */
function shown(): boolean {
  return vscode.workspace.getConfiguration("tileperf").get("inlayHints.enable", true);
}

function hovers(): boolean {
  return vscode.workspace.getConfiguration("tileperf").get("hover.enable", true);
}
