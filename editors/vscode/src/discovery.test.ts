import assert from "node:assert/strict";
import { test } from "node:test";
import { type Surroundings, locate, probe } from "./discovery";

/** A machine with these files and nothing else set up. */
function machine(files: string[], rest: Partial<Surroundings> = {}): Surroundings {
  return {
    setting: undefined,
    bundleFolder: "/extension/bin",
    environment: {},
    platform: "linux",
    home: "/home/ada",
    isFile: (path) => files.includes(path),
    ...rest,
  };
}

const EVERYWHERE = [
  "/opt/tileperf",
  "/extension/bin/tileperf",
  "/env/tileperf",
  "/usr/bin/tileperf",
];
const ENVIRONMENT = { TILEPERF_SERVER_PATH: "/env/tileperf", PATH: "/bin:/usr/bin" };

test("setting, then bundled, then environment, then PATH", () => {
  const order = [];
  for (let start = 0; start < EVERYWHERE.length; start++) {
    const files = EVERYWHERE.slice(start);
    const environment = start > 2 ? { PATH: ENVIRONMENT.PATH } : ENVIRONMENT;
    const setting = start > 0 ? "" : "/opt/tileperf";
    order.push(locate(machine(files, { environment, setting })));
  }
  assert.deepEqual(order, [
    { origin: "setting", path: "/opt/tileperf" },
    { origin: "bundled", path: "/extension/bin/tileperf" },
    { origin: "environment", path: "/env/tileperf" },
    { origin: "path", path: "/usr/bin/tileperf" },
  ]);
});

test("a setting that points nowhere is an error, whatever else there is", () => {
  const found = locate(
    machine(EVERYWHERE, { setting: "/gone/tileperf", environment: ENVIRONMENT }),
  );
  assert.ok("problem" in found);
  assert.match(found.problem, /tileperf\.server\.path names \/gone\/tileperf.*no such file/);
});

test("an environment variable that points nowhere is an error, though PATH has one", () => {
  const environment = { ...ENVIRONMENT, TILEPERF_SERVER_PATH: "/gone/tileperf" };
  const found = locate(machine(["/usr/bin/tileperf"], { environment }));
  assert.ok("problem" in found);
  assert.match(found.problem, /TILEPERF_SERVER_PATH names \/gone\/tileperf/);
});

test("a relative setting is refused", () => {
  const found = locate(machine(["./tileperf"], { setting: "./tileperf" }));
  assert.ok("problem" in found);
  assert.match(found.problem, /absolute path/);
});

test("~ is the home folder, and only at the start of a path", () => {
  assert.deepEqual(locate(machine(["/home/ada/bin/tileperf"], { setting: "~/bin/tileperf" })), {
    origin: "setting",
    path: "/home/ada/bin/tileperf",
  });
  assert.ok("problem" in locate(machine(["/home/ada2/t"], { setting: "~2/t" })));
});

test("relative and empty entries of PATH are skipped", () => {
  const files = ["tileperf", "bin/tileperf", "/usr/bin/tileperf"];
  const environment = { PATH: ":.:bin:/usr/bin" };
  assert.deepEqual(locate(machine(files, { environment })), {
    origin: "path",
    path: "/usr/bin/tileperf",
  });
});

test("Windows: backslashes, semicolons, .exe, and Path in any case", () => {
  const files = ["C:\\tools\\tileperf.exe"];
  const environment = { Path: "C:\\Windows;C:\\tools" };
  const found = locate(
    machine(files, { environment, platform: "win32", bundleFolder: "C:\\ext\\bin" }),
  );
  assert.deepEqual(found, { origin: "path", path: "C:\\tools\\tileperf.exe" });
});

test("nothing anywhere: the message says where it looked", () => {
  const found = locate(machine([]));
  assert.ok("problem" in found);
  for (const place of ["TILEPERF_SERVER_PATH", "PATH", "tileperf.server.path"]) {
    assert.ok(found.problem.includes(place), `no ${place} in: ${found.problem}`);
  }
});

const CANDIDATE = { origin: "path", path: "/usr/bin/tileperf" } as const;

test("the version is read from --version", async () => {
  const asked: string[] = [];
  const probed = await probe(CANDIDATE, (program, args) => {
    asked.push(program, ...args);
    return Promise.resolve("tileperf 0.1.0 (abc1234)\n");
  });
  assert.deepEqual(probed, { version: "0.1.0" });
  assert.deepEqual(asked, ["/usr/bin/tileperf", "--version"]);
});

test("a program that does not run is named with its reason", async () => {
  const probed = await probe(CANDIDATE, () => Promise.reject(new Error("permission denied")));
  assert.ok("problem" in probed);
  assert.match(probed.problem, /\/usr\/bin\/tileperf \(found on PATH\).*permission denied/);
});

test("another program of that name is not taken for the server", async () => {
  const probed = await probe(CANDIDATE, () => Promise.resolve("tile performance 3\nmore"));
  assert.ok("problem" in probed);
  assert.match(probed.problem, /is not tileperf.*"tile performance 3"/);
});
