/**
 * The experiment loop in this editor: its commands, and what the server tells of its runs.
 */

import * as vscode from "vscode";
import { ExecuteCommandRequest } from "vscode-languageclient/node";
import type { Server } from "../server";
import { conduct, type Desk } from "./conduct";
import { decorate } from "./decorations";
import { EDITOR_DESK, mention } from "./desk";
import { Endings } from "./endings";
import type { CommandAnswer, CommandArgument, SessionState } from "./protocol";
import { RUN_NOTIFICATION, RUNS_REQUEST } from "./protocol";
import { ReportPanels } from "./reportPanel";
import { Sessions } from "./sessions";
import { REPORT_COMMAND, VERBS } from "./verbs";

const SHOW_REPORT = "Show Report";

/** What is known of the workspace's runs. */
export class Perf implements vscode.Disposable {
  readonly #server: Server;
  readonly #sessions = new Sessions();
  readonly #endings = new Endings();
  readonly #panels = new ReportPanels();
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #disposables: vscode.Disposable;

  /** Fires after every change of what is known. */
  readonly onDidChange = this.#changed.event;

  constructor(server: Server) {
    this.#server = server;
    const desk = this.#desk();
    server.listen(RUN_NOTIFICATION, (state: SessionState) => {
      this.#hear(state);
    });
    this.#disposables = vscode.Disposable.from(
      this.#changed,
      this.#panels,
      ...VERBS.map((verb) =>
        vscode.commands.registerCommand(verb.command, (given: unknown) =>
          conduct(verb, given, desk),
        ),
      ),
      server.onDidStart(() => this.#ask({})),
      server.onDidEnd(() => {
        this.#sessions.clear();
        this.#changed.fire();
      }),
      vscode.workspace.onDidOpenTextDocument(async ({ uri, languageId }) => {
        const there = server.state.kind === "running";
        if (there && languageId === "python" && uri.scheme === "file") {
          await this.#ask({ uri: uri.toString() });
        }
      }),
      decorate({ all: () => this.#sessions.all(), onDidChange: this.onDidChange }),
    );
  }

  /** The sessions on which some process works now. */
  running(): SessionState[] {
    return this.#sessions.running();
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  #desk(): Desk {
    return {
      ...EDITOR_DESK,
      sessions: () => this.#sessions.all(),
      send: (command, argument) => this.#send(command, argument),
      begun: (answer, argument) => {
        const kernel = answer.kernel ?? argument.kernel;
        this.#endings.begun(answer.session, kernel, this.#sessions.get(answer.session ?? ""));
        mention(answer.message);
      },
      showReport: (answer, argument) => {
        const session = answer.session ?? argument.session ?? "";
        const kernel = answer.kernel ?? this.#sessions.get(session)?.kernel;
        this.#panels.show(
          session,
          kernel ? `Perf: ${kernel}` : "Perf report",
          answer.content ?? "",
        );
      },
    };
  }

  #send(command: string, argument: CommandArgument): Promise<CommandAnswer> {
    return this.#server.request<CommandAnswer>(ExecuteCommandRequest.method, {
      command,
      arguments: [argument],
    });
  }

  #hear(state: SessionState): void {
    const before = this.#sessions.get(state.session);
    this.#sessions.hear(state);
    this.#changed.fire();
    const ending = this.#endings.hear(state);
    if (ending) {
      void this.#tell(ending.text, ending.warns, ending.session);
    }
    const over = before?.running === true && !state.running;
    if ((over || before?.phase !== state.phase) && this.#panels.has(state.session)) {
      void this.#refreshReport(state.session);
    }
  }

  async #tell(text: string, warns: boolean, session: string): Promise<void> {
    const show = warns ? vscode.window.showWarningMessage : vscode.window.showInformationMessage;
    if ((await show(text, SHOW_REPORT)) === SHOW_REPORT) {
      await vscode.commands.executeCommand(REPORT_COMMAND, { session });
    }
  }

  async #refreshReport(session: string): Promise<void> {
    try {
      const { content } = await this.#send(REPORT_COMMAND, { session, form: "html" });
      this.#panels.update(session, content ?? "");
    } catch (error) {
      // The old report stays on screen; asking for it again says why.
      this.#server.note(`${REPORT_COMMAND}: ${String(error)}`);
    }
  }

  /** Asks for the present states; a server that does not know the question has none. */
  async #ask(about: { readonly uri?: string }): Promise<void> {
    const asked = this.#sessions.now();
    try {
      const answer = await this.#server.request<SessionState[] | null>(RUNS_REQUEST, about);
      const wanted = about.uri;
      this.#sessions.replace(
        answer ?? [],
        asked,
        wanted === undefined ? undefined : (uri) => vscode.Uri.parse(uri).toString() === wanted,
      );
      this.#changed.fire();
    } catch (error) {
      this.#server.note(`${RUNS_REQUEST}: ${String(error)}`);
    }
  }
}
