import assert from "node:assert/strict";
import { test } from "node:test";
import { serverInfoText } from "./serverInfo";

const EDITOR = { name: "Visual Studio Code", version: "1.100.3", extension: "0.1.0" };

test("a running server: version, path, how it was found, state, counts, problems, settings", () => {
  const text = serverInfoText(
    {
      kind: "running",
      server: { origin: "setting", path: "/opt/tileperf" },
      version: "0.1.0",
      status: { state: "ready", kernels: 4, files: 14 },
      info: {
        version: "0.1.0",
        pid: 42,
        encoding: "utf-16",
        files: 14,
        kernels: 4,
        indexSeconds: 0.0123,
        compiler: "cuda-tile 1.7.0 of /venv/bin/python, tileiras 13.4.92",
        compiling: ["scale on sm_90", "shift on sm_90"],
        settings: { hover: { enable: true } },
        problems: ["unknown key `hovr`"],
      },
    },
    true,
    EDITOR,
  );
  assert.equal(
    text,
    `# tileperf server

- State: ready
- Version: 0.1.0
- Path: /opt/tileperf
- How it was found: setting tileperf.server.path
- Process: 42
- Position encoding: utf-16
- Python files: 14
- Kernels: 4
- First index: 0.012 s
- Compiler: cuda-tile 1.7.0 of /venv/bin/python, tileiras 13.4.92
- Being compiled: scale on sm_90, shift on sm_90
- Workspace trusted: yes
- Extension: 0.1.0
- Editor: Visual Studio Code 1.100.3

## Problems

- unknown key \`hovr\`

## Settings in effect

\`\`\`json
{
  "hover": {
    "enable": true
  }
}
\`\`\`
`,
  );
});

test("a server that told nothing yet still has version, path and state", () => {
  const text = serverInfoText(
    {
      kind: "running",
      server: { origin: "path", path: "/usr/bin/tileperf" },
      version: "0.1.0",
      status: { state: "dormant" },
      info: undefined,
    },
    false,
    EDITOR,
  );
  assert.match(text, /State: dormant/);
  assert.match(text, /Version: 0\.1\.0/);
  assert.match(text, /found on PATH/);
  assert.match(text, /trusted: no/);
  assert.doesNotMatch(text, /Kernels|undefined|null|## /);
});

test("no server: the reason", () => {
  const text = serverInfoText({ kind: "failed", problem: "nothing on PATH" }, true, EDITOR);
  assert.match(text, /State: not running/);
  assert.match(text, /- nothing on PATH/);
});
