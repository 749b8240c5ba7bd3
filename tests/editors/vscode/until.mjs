// Waiting by looking, never by sleeping: a slow machine makes a test slow, not wrong.

const INTERVAL_MS = 100;

/** How long anything that a user waits for may take on a slow, busy machine. */
export const PATIENCE_MS = 30_000;

/**
 * Calls `look` until it returns something truthy, and returns that.
 * @template T
 * @param {string} what completes the sentence "timed out waiting for ..."
 * @param {() => Promise<T> | T} look what it throws counts as "not yet"
 * @param {{ limit?: number, seen?: () => Promise<unknown> | unknown }} options `seen` tells what was
 *   there instead, for the message
 */
export async function until(what, look, { limit = PATIENCE_MS, seen } = {}) {
  const end = performance.now() + limit;
  let last;
  do {
    try {
      const result = await look();
      if (result) {
        return result;
      }
      last = undefined;
    } catch (error) {
      last = error;
    }
    await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
  } while (performance.now() < end);

  const instead = seen ? `\n  seen instead: ${JSON.stringify(await seen())}` : "";
  const cause = last ? `\n  last error: ${last.message}` : "";
  throw new Error(`timed out after ${limit / 1000} s waiting for ${what}${instead}${cause}`);
}

/** Throws `message` unless `condition` holds. */
export function check(condition, message) {
  if (!condition) {
    throw new Error(message);
  }
}
