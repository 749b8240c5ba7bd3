// The project that the experiment loop is tested on, as a git repository of its own, and a journal
// in it as a run leaves one.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const KERNEL = "scale_kernel";
export const FILE = "src/gym/ops/cutile/scale.py";
export const SESSION = "scale_kernel-20260102";

const TEST_FILE = "tests/ops/test_scale.py";
const SCHEMA = 1;

/** Copies the project from `gym` to `folder`, everything committed. */
export function copyGym(gym, folder) {
  cpSync(gym, folder, { recursive: true });
  renameSync(join(folder, "gitignore"), join(folder, ".gitignore"));
  for (const args of [
    ["init", "--quiet", "--initial-branch=main"],
    ["config", "user.name", "Test"],
    ["config", "user.email", "test@example.com"],
    ["add", "--all"],
    ["commit", "--quiet", "--message=Begin"],
  ]) {
    execFileSync("git", args, { cwd: folder });
  }
  return folder;
}

/**
 * Writes the journal of a session with a baseline and one kept iteration, whose result is the file
 * as it stands.
 */
export function writeJournal(root) {
  const folder = join(root, "sandbox", "tileperf", SESSION);
  mkdirSync(join(folder, "objects"), { recursive: true });
  const store = (bytes) => {
    const hash = createHash("sha256").update(bytes).digest("hex");
    writeFileSync(join(folder, "objects", hash), bytes);
    return [{ path: FILE, hash }];
  };
  const present = readFileSync(join(root, FILE));
  const candidate = store(present);
  const base = store(Buffer.from(present.toString("utf8").replace("SMALL = 40", "SMALL = 50")));

  const lines = events(root, base, candidate).map(({ at, ...event }, seq) =>
    JSON.stringify({ schema: SCHEMA, seq, at: `2026-01-02T03:04:${at}Z`, ...event }),
  );
  writeFileSync(join(folder, "journal.jsonl"), `${lines.join("\n")}\n`);
}

function events(root, base, candidate) {
  const device = { id: "cpu", name: "CPU" };
  const started = { event: "run_started", pid: 1, host: "elsewhere", device, limit: 600 };
  const ended = { event: "run_ended", end: { ended: "completed" }, seconds: 20 };
  const version = { tileperf: "0.1.0" };
  const sizes = ["16", "1024"];
  const row = { correctness: "PASS", status: "keep" };
  return [
    {
      at: "00",
      event: "set_up",
      session: SESSION,
      root,
      plan: {
        kernel: KERNEL,
        file: FILE,
        op: "scale",
        files: [FILE],
        test_file: TEST_FILE,
        correctness: ["{python}", "-m", "pytest", "{test_file}"],
        benchmark: ["{python}", "-m", "pytest", "{test_file}"],
        python: "python3",
        environment: {},
        search_switch: null,
        place: "auto",
        repeat: true,
        record: true,
        limit: 600,
        device: "cpu",
      },
      git: null,
      found: base,
      base,
    },
    { at: "01", ...started, ...version, run: 0, kind: "baseline", iteration: 0, tried: null },
    { at: "20", event: "measured", run: 0, configurations: sizes.map((size) => same(size, 0.5)) },
    { at: "20", event: "baseline_kept", run: 0 },
    {
      at: "21",
      ...ended,
      run: 0,
      row: { ...row, iteration: 0, optimization: "baseline", latency_ms: 0.5 },
    },
    {
      at: "30",
      ...started,
      ...version,
      run: 1,
      kind: "iteration",
      iteration: 1,
      tried: { optimization: "SMALL = 40", origin: { by: "user" }, base, candidate },
    },
    { at: "50", event: "measured", run: 1, configurations: sizes.map((size) => faster(size)) },
    { at: "50", event: "decided", run: 1, candidate: decidedOn(sizes), decision: decision() },
    { at: "50", event: "kept", run: 1, commit: null },
    {
      at: "51",
      ...ended,
      run: 1,
      row: { ...row, iteration: 1, optimization: "SMALL = 40", latency_ms: 0.4 },
    },
  ];
}

const key = (size) => ({
  configuration: `${TEST_FILE}::test_perf[${size}-cutile]`,
  backend: "cutile",
  direction: "forward",
});

/** @param {number} change the relative change, as the logarithm that the journal keeps */
const estimate = (change) => ({
  effect: Math.log1p(change),
  low: Math.log1p(change - 0.01),
  high: Math.log1p(change + 0.01),
  level: 0.9875,
  standard_error: 0.003,
  pairs: 30,
  blocks: 15,
  dropped: 0,
  method: "bootstrap",
});

const measured = (size, base, candidate, verdict) => ({
  key: key(size),
  weight: 1,
  base,
  candidate,
  is_time: true,
  verdict,
});
const same = (size, value) =>
  measured(size, value, value, {
    verdict: "SAME",
    estimate: estimate(0),
    reason: { reason: "within_one_percent" },
  });
const quick = {
  verdict: "FASTER",
  estimate: estimate(-0.2),
  reason: { reason: "clearly_faster" },
};
const faster = (size) => measured(size, 0.5, 0.4, quick);

const decidedOn = (sizes) => ({
  correctness: { correctness: "passed" },
  configurations: sizes.map((size) => ({ key: key(size), weight: 1, verdict: quick })),
  sets: { common: sizes.map(key), changes: [], unmeasured: [] },
  against_start: Math.log1p(-0.2),
});

const decision = () => ({
  why: { why: "large_gain" },
  total: {
    effect: Math.log1p(-0.2),
    low: Math.log1p(-0.21),
    high: Math.log1p(-0.19),
    p_faster: 1e-9,
  },
  faster: ["16", "1024"].map(key),
  slower: [],
  perhaps_slower: [],
  perhaps_faster: [],
  undecided: [],
  appeared: [],
});
