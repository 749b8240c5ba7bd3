/**
 * When to stop restarting a server that keeps dying: a crash now and then is survived quietly, a
 * server that cannot live is not restarted for ever.
 */

const LIMIT = 5;
const WINDOW_MS = 3 * 60 * 1000;

/** Counts the deaths of the last three minutes. */
export class Restarts {
  #deaths: number[] = [];

  /** Records a death at `now` (milliseconds of any clock); whether to start the server again. */
  again(now: number): boolean {
    this.#deaths = this.#deaths.filter((death) => now - death < WINDOW_MS);
    this.#deaths.push(now);
    return this.#deaths.length < LIMIT;
  }
}
