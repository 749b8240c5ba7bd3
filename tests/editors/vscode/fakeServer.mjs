// A server of few words that plays one run of the experiment loop, step by step as the test wants:
// states that a real run is in for seconds, or not at all on a machine without a GPU.
//
//   node fakeServer.mjs FILE LOG --version | lsp
//
// FILE is the kernel's, LOG gets a JSON line for each command. The kernel's definition must be the
// only one in FILE.

import { appendFileSync, readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [file, log, verb] = process.argv.slice(2);
const uri = pathToFileURL(file).href;
const lines = readFileSync(file, "utf8").split("\n");
const at = lines.findIndex((line) => line.startsWith("def "));
const kernel = /^def (\w+)/.exec(lines[at])[1];
const range = {
  start: { line: at, character: 4 },
  end: { line: at, character: 4 + kernel.length },
};

const baseline = {
  run: 0,
  iteration: 0,
  kind: "baseline",
  began: "2026-01-02T03:04:05Z",
  limit: 600,
  state: "kept",
  sentence: "baseline measured",
};
const iteration = { ...baseline, run: 1, iteration: 1, kind: "iteration", optimization: "twice" };

/** @param {string} short @param {number} change @param {string} verdict */
const result = (short, change, verdict) => ({
  configuration: `tests/ops/test_row_scale.py::test_perf${short}`,
  short,
  direction: "forward",
  backend: "cutile",
  base: 0.4,
  candidate: 0.4 * (1 + change),
  unit: "ms",
  change,
  low: change - 0.01,
  high: change + 0.01,
  verdict,
  sentence: "",
});

const measured = {
  session: `${kernel}-20260102`,
  kernel,
  uri,
  range,
  phase: "ready",
  running: false,
  run: { ...iteration, sentence: "kept: 5.41 % faster" },
  latency: { current: 0.39, baseline: 0.82, unit: "ms", text: "0.390000 ms, 2.10x of 0.820000 ms" },
  verdict: "kept: 5.41 % faster",
  results: [
    result("[1]", -0.052, "FASTER"),
    result("[2]", -0.056, "FASTER"),
    result("[4]", -0.051, "FASTER"),
    result("[8]", -0.002, "SAME"),
    result("[16|x]", 0.003, "AMBIGUOUS"),
  ],
  stale: true,
  staleReason: "row_scale.py was edited",
  failures: [],
  table: "",
};
const busy = { ...measured, running: true };
const next = { ...iteration, run: 2, iteration: 2, state: "running", sentence: "running" };
const working = { ...busy, run: { ...next, stage: "measuring", pairs: 60, decided: 2, of: 5 } };
const stopped = {
  ...measured,
  phase: "stopped",
  stopReason: "by the user",
  run: { ...next, state: "refused", sentence: "stopped before a result" },
};

let present = measured;

const PAGE = `<!DOCTYPE html><html><head><title>t</title></head><body><h1>Report of ${kernel}</h1>
<p id="script">no script ran</p><script>document.getElementById("script").textContent = "ran"</script>
<svg width="300" height="40"><rect width="200" height="30" fill="steelblue"></rect></svg></body></html>`;

const requests = {
  initialize: () => ({
    capabilities: {
      textDocumentSync: 1,
      codeLensProvider: {},
      executeCommandProvider: {
        commands: ["tileperf.runPerfIteration", "tileperf.perf.stop", "tileperf.perf.report"],
      },
    },
  }),
  "tileperf/serverInfo": () => ({}),
  "tileperf/runs": () => [present],
  "textDocument/codeLens": ({ textDocument }) =>
    textDocument.uri !== uri
      ? []
      : [
          {
            range: { start: { line: at - 1, character: 0 }, end: { line: at - 1, character: 1 } },
            command: {
              title: "Run perf iteration",
              command: "tileperf.runPerfIteration",
              arguments: [{ uri, kernel }],
            },
          },
        ],
  "workspace/executeCommand": ({ command, arguments: [argument] }) => {
    const disk = readFileSync(file, "utf8");
    appendFileSync(log, `${JSON.stringify({ command, argument, disk })}\n`);
    return commands[command](argument);
  },
  shutdown: () => null,
};

const commands = {
  "tileperf.runPerfIteration": () => {
    if (present.running) {
      throw new Error(`another run goes on: iteration 2 of ${kernel}`);
    }
    become(working);
    return { session: working.session, kernel, message: "iteration 2 begins" };
  },
  "tileperf.perf.stop": () => {
    become(stopped);
    return { session: working.session, kernel, message: "stopped" };
  },
  "tileperf.perf.report": () => ({
    session: working.session,
    kernel,
    message: "",
    content: PAGE,
  }),
};

/** The state changes, and the client hears of it. */
function become(state) {
  present = state;
  send({ method: "tileperf/run", params: state });
}

const notifications = {
  initialized: () =>
    send({ method: "tileperf/status", params: { state: "ready", kernels: 1, files: 1 } }),
  exit: () => process.exit(0),
};

function receive({ id, method, params }) {
  if (id === undefined) {
    notifications[method]?.(params);
  } else if (requests[method]) {
    try {
      send({ id, result: requests[method](params) });
    } catch ({ message }) {
      send({ id, error: { code: -32803, message } });
    }
  } else {
    send({ id, error: { code: -32601, message: `no ${method} here` } });
  }
}

function send(message) {
  const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
  process.stdout.write(`Content-Length: ${body.length}\r\n\r\n`);
  process.stdout.write(body);
}

if (verb === "--version") {
  console.log("tileperf 0.0.0");
} else {
  let bytes = Buffer.alloc(0);
  process.stdin.on("data", (chunk) => {
    bytes = Buffer.concat([bytes, chunk]);
    for (;;) {
      const head = bytes.indexOf("\r\n\r\n");
      const length = Number(/Content-Length: (\d+)/i.exec(bytes.toString("latin1", 0, head))?.[1]);
      if (head < 0 || bytes.length < head + 4 + length) {
        return;
      }
      const body = bytes.subarray(head + 4, head + 4 + length);
      bytes = bytes.subarray(head + 4 + length);
      receive(JSON.parse(body.toString("utf8")));
    }
  });
  process.stdin.on("end", () => process.exit(0));
}
