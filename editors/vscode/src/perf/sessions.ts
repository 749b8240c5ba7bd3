/**
 * The states of all sessions that the server has told of, and which of them a kernel shows.
 */

import type { SessionState } from "./protocol";

/** By session, always the last state. */
export class Sessions {
  readonly #heard = new Map<string, { readonly state: SessionState; readonly at: number }>();
  #clock = 0;

  /** Takes in a notification. */
  hear(state: SessionState): void {
    this.#clock += 1;
    this.#heard.set(state.session, { state, at: this.#clock });
  }

  /** A moment to hand to `replace`: when a question is sent. */
  now(): number {
    return this.#clock;
  }

  /**
   * Takes in the answer to a question asked at `asked`, about everything or about the documents
   * that `about` accepts: what it does not name is forgotten. A state heard while the answer was on
   * its way is newer than the answer and stays.
   */
  replace(
    answer: readonly SessionState[],
    asked: number,
    about: (uri: string) => boolean = () => true,
  ): void {
    for (const [session, { state, at }] of this.#heard) {
      if (at <= asked && about(state.uri)) {
        this.#heard.delete(session);
      }
    }
    for (const state of answer) {
      if (!this.#heard.has(state.session)) {
        this.#heard.set(state.session, { state, at: asked });
      }
    }
  }

  /** Forgets everything: the server that told it is gone. */
  clear(): void {
    this.#heard.clear();
  }

  all(): SessionState[] {
    return [...this.#heard.values()].map(({ state }) => state);
  }

  get(session: string): SessionState | undefined {
    return this.#heard.get(session)?.state;
  }

  /** Those on which some process works now. */
  running(): SessionState[] {
    return this.all().filter((state) => state.running);
  }
}

/** One session a kernel: the one at work, else one that goes on, else the last. Those that were
 * given up are not shown: the code they measured is gone. */
export function leading(states: readonly SessionState[]): SessionState[] {
  const best = new Map<string, SessionState>();
  for (const state of states) {
    const key = `${state.uri}#${state.kernel}`;
    const other = best.get(key);
    if (state.phase !== "abandoned" && (other === undefined || outranks(state, other))) {
      best.set(key, state);
    }
  }
  return [...best.values()];
}

function outranks(one: SessionState, other: SessionState): boolean {
  const [mine, theirs] = [rank(one), rank(other)];
  return mine === theirs ? (one.run?.began ?? "") > (other.run?.began ?? "") : mine > theirs;
}

function rank(state: SessionState): number {
  return state.running ? 2 : state.phase === "finished" ? 0 : 1;
}
