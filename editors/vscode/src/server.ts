/**
 * The life of the server: found, started, watched, restarted when it dies, stopped.
 *
 * One language client belongs to one process and is thrown away with it; the client's own restarts
 * stay off, so that there is a single way in which a server comes to life. Starts and stops queue
 * behind each other: two quick restarts never leave two servers.
 */

import { statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import * as vscode from "vscode";
import {
  CloseAction,
  DidChangeConfigurationNotification,
  type DynamicFeature,
  ErrorAction,
  ExecuteCommandRequest,
  type InitializeParams,
  LanguageClient,
  type LanguageClientOptions,
  RevealOutputChannelOn,
  type StaticFeature,
} from "vscode-languageclient/node";
import type { Settings } from "./configuration";
import { type Candidate, locate, ORIGIN_TEXT, type Problem, probe } from "./discovery";
import { endServer, runToEnd, type ServerProcess, settles, startServer } from "./process";
import { RUN_ITERATION_COMMAND } from "./perf/protocol";
import {
  CHOOSE_SIGNATURE_COMMAND,
  SERVER_INFO_REQUEST,
  type ServerInfo,
  type ServerStatus,
  SHOW_USES_COMMAND,
  STATUS_NOTIFICATION,
} from "./protocol";
import { Restarts } from "./restarts";
import type { ServerState } from "./status";

/** How long a server may take to say goodbye before it is ended. */
const GOODBYE_MS = 2000;
/** How long the answer about the server itself may take. */
const INFO_MS = 5000;

/** The documents the server is told about. */
export const DOCUMENTS = [
  { scheme: "file", language: "python" },
  { scheme: "untitled", language: "python" },
];

/** A client and the process at its other end. */
interface Session {
  readonly client: LanguageClient;
  readonly process: ServerProcess;
  readonly server: Candidate;
  readonly version: string;
  /** Set when the end was asked for, and so is no crash. */
  ending: boolean;
}

/** Says what this extension adds to the protocol, and keeps errors to the log: the status item
 * tells of what matters, once. */
class QuietClient extends LanguageClient {
  protected override fillInitializeParams(params: InitializeParams): void {
    super.fillInitializeParams(params);
    params.capabilities.experimental = {
      commands: [SHOW_USES_COMMAND, RUN_ITERATION_COMMAND, CHOOSE_SIGNATURE_COMMAND],
      messageButtons: true,
    };
  }

  /** Leaves out the feature that would register the server's commands: they are registered once by
   * the extension, which asks and saves first, and are there before the server is. */
  override registerFeature(feature: StaticFeature | DynamicFeature<unknown>): void {
    const commands =
      "registrationType" in feature &&
      feature.registrationType.method === ExecuteCommandRequest.method;
    if (!commands) {
      super.registerFeature(feature);
    }
  }

  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

/** The server as the rest of the extension uses it. */
export class Server implements vscode.Disposable {
  readonly #extensionPath: string;
  readonly #settings: Settings;
  readonly #log: vscode.OutputChannel;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #started = new vscode.EventEmitter<void>();
  readonly #ended = new vscode.EventEmitter<void>();
  readonly #listeners = new Map<string, (params: never) => void>();
  #restarts = new Restarts();
  #state: ServerState = { kind: "starting" };
  #session: Session | undefined;
  /** The setting that the last search for a server went by. */
  #serverPath: string | undefined;
  #queue: Promise<void> = Promise.resolve();

  /** Fires after every change of `state`. */
  readonly onDidChange = this.#changed.event;
  /** Fires when a server has been initialized and answers. */
  readonly onDidStart = this.#started.event;
  /** Fires when the server is no longer there, whether it was stopped or died. */
  readonly onDidEnd = this.#ended.event;

  constructor(extensionPath: string, settings: Settings, log: vscode.OutputChannel) {
    this.#extensionPath = extensionPath;
    this.#settings = settings;
    this.#log = log;
  }

  get state(): ServerState {
    return this.#state;
  }

  /** Stops the server if one runs, looks for it anew, and starts it. Never rejects. */
  restart(): Promise<void> {
    this.#restarts = new Restarts();
    return this.#enqueue(async () => {
      await this.#end();
      await this.#begin();
    });
  }

  /** Stops the server and does not start it again. */
  stop(): Promise<void> {
    return this.#enqueue(() => this.#end());
  }

  dispose(): void {
    this.#changed.dispose();
    this.#started.dispose();
    this.#ended.dispose();
  }

  /** Hears a notification of every server from the next start on. */
  listen(method: string, listener: (params: never) => void): void {
    this.#listeners.set(method, listener);
  }

  /** Asks the server, once it has started. Rejects with its own words, or if there is no server. */
  async request<T>(method: string, params: unknown): Promise<T> {
    await this.#queue;
    if (!this.#session) {
      throw new Error("The tileperf server is not running.");
    }
    return this.#session.client.sendRequest<T>(method, params);
  }

  /** Adds a line to the log. */
  note(text: string): void {
    this.#log.appendLine(`[extension] ${text}`);
  }

  /** Acts on changed settings or trust: another program is started, anything else is passed on. */
  async configurationChanged(): Promise<void> {
    // Asked rather than told: gaining trust announces changes of settings that have not changed.
    if (this.#settings.serverPath() !== this.#serverPath) {
      await this.restart();
      return;
    }
    const client = this.#session?.client;
    if (client?.isRunning()) {
      const settings = this.#settings.configuration();
      await client.sendNotification(DidChangeConfigurationNotification.type, { settings });
      await this.refreshInfo();
    }
  }

  /** Asks the server about itself; the answer becomes part of `state`. */
  async refreshInfo(): Promise<void> {
    const session = this.#session;
    if (!session?.client.isRunning()) {
      return;
    }
    const answer = session.client.sendRequest<ServerInfo>(SERVER_INFO_REQUEST, {});
    if (!(await settles(answer, INFO_MS))) {
      this.note(`no answer to ${SERVER_INFO_REQUEST} within ${INFO_MS / 1000} seconds`);
      return;
    }
    try {
      const info = await answer;
      if (session === this.#session && this.#state.kind === "running") {
        this.#become({ ...this.#state, info });
      }
    } catch (error) {
      this.note(`${SERVER_INFO_REQUEST}: ${reason(error)}`);
    }
  }

  #enqueue(work: () => Promise<void>): Promise<void> {
    this.#queue = this.#queue.then(work).catch((error: unknown) => {
      this.#fail(reason(error));
    });
    return this.#queue;
  }

  async #begin(): Promise<void> {
    this.#become({ kind: "starting" });
    const found = await this.#find();
    if ("problem" in found) {
      this.#fail(found.problem);
      return;
    }
    const { server, version } = found;
    this.note(`starting ${server.path} ${version} (${ORIGIN_TEXT[server.origin]})`);
    const process = startServer(server.path, this.#extensionPath, (line) => {
      this.#log.appendLine(line);
    });
    const client = this.#client(process);
    const session: Session = { client, process, server, version, ending: false };
    this.#session = session;
    void process.gone.then((why) => {
      this.#died(session, why);
    });
    this.#become({
      kind: "running",
      server,
      version,
      status: { state: "dormant" },
      info: undefined,
    });
    client.onNotification(STATUS_NOTIFICATION, (status: ServerStatus) => {
      this.#heard(session, status);
    });
    for (const [method, listener] of this.#listeners) {
      client.onNotification(method, (params: unknown) => {
        if (session === this.#session) {
          listener(params as never);
        }
      });
    }
    // The wait for `initialize` must not hold the queue: a server that hangs there can be restarted.
    client.start().then(
      () => {
        this.#started.fire();
        return this.refreshInfo();
      },
      (error: unknown) => {
        this.#startFailed(session, reason(error));
      },
    );
  }

  async #find(): Promise<{ server: Candidate; version: string } | Problem> {
    this.#serverPath = this.#settings.serverPath();
    const server = locate({
      setting: this.#serverPath,
      bundleFolder: join(this.#extensionPath, "editors", "vscode", "bin"),
      environment: process.env,
      platform: process.platform,
      home: homedir(),
      isFile,
    });
    if ("problem" in server) {
      return server;
    }
    const probed = await probe(server, (program, args) =>
      runToEnd(program, args, this.#extensionPath),
    );
    return "problem" in probed ? probed : { server, version: probed.version };
  }

  #client(process: ServerProcess): LanguageClient {
    const { stdout: reader, stdin: writer } = process.child;
    const options: LanguageClientOptions = {
      documentSelector: DOCUMENTS,
      initializationOptions: () => this.#settings.configuration(),
      outputChannel: this.#log,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      // Without it the client shows a message of its own, beside the one of #startFailed.
      initializationFailedHandler: () => false,
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => ({
          action: CloseAction.DoNotRestart,
          message: "The connection to the server is closed.",
          handled: true,
        }),
      },
    };
    return new QuietClient(
      "tileperf",
      "tileperf",
      () => Promise.resolve({ reader, writer }),
      options,
    );
  }

  async #end(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    if (!session) {
      return;
    }
    session.ending = true;
    this.#ended.fire();
    // A client that has not finished starting refuses to stop; its process is ended all the same.
    await settles(session.client.dispose(GOODBYE_MS), GOODBYE_MS);
    await endServer(session.process, GOODBYE_MS);
    this.note("the server was stopped");
  }

  #heard(session: Session, status: ServerStatus): void {
    if (session !== this.#session || this.#state.kind !== "running") {
      return;
    }
    const news = this.#state.status.state !== status.state;
    this.#become({ ...this.#state, status });
    if (news && status.state !== "indexing") {
      void this.refreshInfo();
    }
  }

  #startFailed(session: Session, why: string): void {
    // A death during the start is told by #died, with the better reason.
    if (session !== this.#session || session.process.child.exitCode !== null) {
      return;
    }
    void this.#enqueue(async () => {
      if (session === this.#session) {
        await this.#end();
        this.#fail(`The tileperf server did not start: ${why}`);
      }
    });
  }

  #died(session: Session, why: string): void {
    if (session.ending || session !== this.#session) {
      return;
    }
    this.note(`the server died: ${why}`);
    const again = this.#restarts.again(Date.now());
    void this.#enqueue(async () => {
      // Someone else may have restarted it meanwhile.
      if (session !== this.#session) {
        return;
      }
      await this.#end();
      if (again) {
        await this.#begin();
      } else {
        this.#fail(`The tileperf server keeps dying (${why}) and is not restarted any more.`);
      }
    });
  }

  #fail(problem: string): void {
    this.note(problem);
    this.#become({ kind: "failed", problem });
    void tell(problem, this.#log);
  }

  #become(state: ServerState): void {
    this.#state = state;
    this.#changed.fire();
  }
}

/** The one message about a server that is not there, with what a user can do about it. */
async function tell(problem: string, log: vscode.OutputChannel): Promise<void> {
  const choice = await vscode.window.showErrorMessage(problem, "Open Settings", "Show Log");
  if (choice === "Open Settings") {
    await vscode.commands.executeCommand("workbench.action.openSettings", "tileperf.server.path");
  } else if (choice === "Show Log") {
    log.show();
  }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
