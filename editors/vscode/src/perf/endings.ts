/**
 * Which ends of runs to tell: those that were begun in this window. Whoever runs a campaign in a
 * terminal sees it there, and the results in the editor all the same.
 */

import type { SessionState } from "./protocol";
import { runName } from "./words";

/** The end of a run, for a message. */
export interface Ending {
  readonly session: string;
  readonly text: string;
  /** Something to look at, rather than a result. */
  readonly warns: boolean;
}

const WARNS = new Set(["reverted", "crashed", "interrupted", "refused"]);

interface Awaited {
  readonly session: string | undefined;
  readonly kernel: string | undefined;
  /** The last run there was when the command was given. */
  readonly after: number;
  seen: boolean;
}

/** Follows the runs that were begun here. */
export class Endings {
  readonly #awaited: Awaited[] = [];

  /** A command has begun a run of this session, or of this kernel if the session is new. */
  begun(
    session: string | null | undefined,
    kernel: string | null | undefined,
    known: SessionState | undefined,
  ): void {
    this.#awaited.push({
      session: session ?? undefined,
      kernel: kernel ?? undefined,
      after: known?.run?.run ?? -1,
      seen: known?.running ?? false,
    });
  }

  /** Takes in a state; what to tell about it, if it is an end. */
  hear(state: SessionState): Ending | undefined {
    const index = this.#awaited.findIndex((awaited) =>
      awaited.session === undefined
        ? awaited.kernel === state.kernel
        : awaited.session === state.session,
    );
    const awaited = this.#awaited[index];
    if (!awaited) {
      return undefined;
    }
    if (state.running) {
      awaited.seen = true;
      return undefined;
    }
    const { run } = state;
    if (!run || run.state === "running" || (!awaited.seen && run.run <= awaited.after)) {
      return undefined;
    }
    this.#awaited.splice(index, 1);
    if (run.state === "cancelled") {
      return undefined;
    }
    return {
      session: state.session,
      text: `${state.kernel}, ${runName(run)}: ${run.sentence}`,
      warns: WARNS.has(run.state),
    };
  }
}
