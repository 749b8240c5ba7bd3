/**
 * The settings, read from the manifest so that package.json stays the only list of them.
 */

/** Settings that only the extension uses; the server never hears of them. */
const OWN = new Set(["server.path", "trace.server"]);

/** The keys that the server understands, without the `tileperf.` in front. */
export function serverKeys(manifest: unknown): string[] {
  const properties = (manifest as Manifest).contributes?.configuration?.properties ?? {};
  return Object.keys(properties)
    .map((key) => key.slice("tileperf.".length))
    .filter((key) => !OWN.has(key));
}

interface Manifest {
  contributes?: { configuration?: { properties?: Record<string, unknown> } };
}

/** `[["hover.enable", false]]` as `{ hover: { enable: false } }`. */
export function nest(values: Iterable<readonly [string, unknown]>): Record<string, unknown> {
  const root: Record<string, unknown> = {};
  for (const [key, value] of values) {
    const path = key.split(".");
    const last = path.pop() ?? key;
    let group = root;
    for (const part of path) {
      group = (group[part] ??= {}) as Record<string, unknown>;
    }
    group[last] = value;
  }
  return root;
}

/** The names of the surfaces (`hover`, `codeLens`...) that a value of false hides. */
export function surfacesOff(values: Iterable<readonly [string, unknown]>): string[] {
  const names = [];
  for (const [key, value] of values) {
    if (value === false && key.endsWith(".enable")) {
      names.push(key.slice(0, -".enable".length));
    }
  }
  return names;
}
