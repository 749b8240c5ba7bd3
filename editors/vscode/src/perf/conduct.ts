/**
 * How a command of the loop is carried out, from the key press to the answer, without the editor:
 * what it is about, what is asked, what is saved, what is told.
 */

import type { CommandAnswer, CommandArgument, SessionState } from "./protocol";
import type { Verb } from "./verbs";

/** What the editor does for a command. */
export interface Desk {
  /** Whether the workspace is trusted. */
  readonly trusted: () => boolean;
  /** The document and cursor of the active Python editor. */
  readonly active: () => Pick<Required<CommandArgument>, "uri" | "position"> | undefined;
  readonly sessions: () => readonly SessionState[];
  /** Saves the document if it is open and has changes; whether it is now as on disk. */
  readonly save: (uri: string) => Promise<boolean>;
  /** Lets the user choose; undefined if they do not. */
  readonly pick: <T>(title: string, choices: readonly Choice<T>[]) => Promise<T | undefined>;
  /** Lets the user type; undefined if they do not. */
  readonly input: (prompt: string, placeholder: string) => Promise<string | undefined>;
  /** Asks before something that cannot be taken back. */
  readonly confirm: (question: string, detail: string, action: string) => Promise<boolean>;
  readonly send: (command: string, argument: CommandArgument) => Promise<CommandAnswer>;
  readonly inform: (message: string) => void;
  readonly refuse: (message: string) => void;
  /** Says that the workspace is not trusted, and how to change that. */
  readonly refuseUntrusted: () => void;
  /** A run goes on now. */
  readonly begun: (answer: CommandAnswer, argument: CommandArgument) => void;
  readonly showReport: (answer: CommandAnswer, argument: CommandArgument) => void;
  /** Opens a text that came with an answer, as Markdown. */
  readonly showText: (content: string) => Promise<void>;
}

/** One line of a choice. */
export interface Choice<T> {
  readonly label: string;
  readonly description: string;
  readonly value: T;
}

/** Carries out `verb`. `given` is whatever the menu, the lens or the key binding passed. */
export async function conduct(verb: Verb, given: unknown, desk: Desk): Promise<void> {
  if (verb.runs && !desk.trusted()) {
    desk.refuseUntrusted();
    return;
  }
  const explicit = argumentOf(given);
  const chosen = await subject(explicit, desk);
  const answered = chosen && (await question(verb, chosen, desk));
  if (!answered) {
    return;
  }
  let argument: CommandArgument = answered;
  if (verb.saves) {
    const uri = argument.uri ?? session(argument, desk)?.uri;
    if (uri !== undefined && !(await desk.save(uri))) {
      desk.refuse("The file could not be saved, and only what is saved is measured.");
      return;
    }
    // Saving may format the file and move the cursor.
    const moved = desk.active()?.position;
    if (argument.position && !explicit.position && moved) {
      argument = { ...argument, position: moved };
    }
  }
  if (verb.reports) {
    argument = { form: "html", ...argument };
  }
  try {
    await tell(verb, await desk.send(verb.command, argument), argument, desk);
  } catch (error) {
    desk.refuse(error instanceof Error ? error.message : String(error));
  }
}

async function tell(
  verb: Verb,
  answer: CommandAnswer,
  argument: CommandArgument,
  desk: Desk,
): Promise<void> {
  if (verb.reports && argument.form === "html") {
    desk.showReport(answer, argument);
    return;
  }
  if (answer.content) {
    await desk.showText(answer.content);
  }
  if (verb.begins) {
    desk.begun(answer, argument);
  } else {
    desk.inform(answer.message);
  }
}

/**
 * The fields of a command's argument in `given`. A context menu passes the document's URI object
 * instead; the cursor tells more, so that is left out.
 */
export function argumentOf(given: unknown): CommandArgument {
  if (typeof given !== "object" || given === null || "scheme" in given) {
    return {};
  }
  return given;
}

/** Completes what the command is about: the cursor, else the only session, else the user says. */
async function subject(given: CommandArgument, desk: Desk): Promise<CommandArgument | undefined> {
  if (given.uri !== undefined || given.kernel !== undefined || given.session !== undefined) {
    return given;
  }
  const active = desk.active();
  if (active) {
    return { ...active, ...given };
  }
  const sessions = desk.sessions();
  if (sessions.length < 2) {
    const [only] = sessions;
    return only ? { ...given, session: only.session } : given;
  }
  const chosen = await desk.pick(
    "Which session?",
    sessions.map(({ session: name, kernel, latency, verdict }) => ({
      label: kernel,
      description: [name, latency?.text, verdict].filter(Boolean).join(" · "),
      value: name,
    })),
  );
  return chosen === undefined ? undefined : { ...given, session: chosen };
}

/** Asks what the verb wants to know, unless the argument says it. */
async function question(
  verb: Verb,
  argument: CommandArgument,
  desk: Desk,
): Promise<CommandArgument | undefined> {
  if (verb.asks === undefined) {
    return argument;
  }
  switch (verb.asks) {
    case "goal": {
      if (argument.goal !== undefined) {
        return argument;
      }
      const goal = await desk.input(
        "Goal of the session, empty for none",
        "a latency (0.30ms), a speed-up (1.2x), a share of the speed of light (85%sol)",
      );
      const text = goal?.trim();
      return text === undefined ? undefined : text === "" ? argument : { ...argument, goal: text };
    }
    case "commits": {
      if (argument.commits !== undefined) {
        return argument;
      }
      const commits = await desk.pick("Finish with", [
        { label: "One commit", description: "everything that was kept, squashed", value: false },
        { label: "A commit for each kept iteration", description: "", value: true },
      ]);
      return commits === undefined ? undefined : { ...argument, commits };
    }
    case "abandon": {
      const kernel = argument.kernel ?? session(argument, desk)?.kernel ?? "this kernel";
      const sure = await desk.confirm(
        `Give up the perf session of ${kernel}?`,
        "Branch and files go back to what they were before it. Its journal stays.",
        "Give Up",
      );
      return sure ? argument : undefined;
    }
  }
}

function session(argument: CommandArgument, desk: Desk): SessionState | undefined {
  return desk.sessions().find((state) => state.session === argument.session);
}
