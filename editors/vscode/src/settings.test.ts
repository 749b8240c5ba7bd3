import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { nest, serverKeys, surfacesOff } from "./settings";

interface Setting {
  scope: string;
  description?: string;
  markdownDescription?: string;
}

interface Manifest {
  activationEvents: string[];
  extensionKind: string[];
  capabilities: { untrustedWorkspaces: { restrictedConfigurations: string[] } };
  contributes: { configuration: { properties: Record<string, Setting> } };
}

const manifest = JSON.parse(
  // The tests run bundled in editors/vscode/out.
  readFileSync(join(__dirname, "..", "..", "..", "package.json"), "utf8"),
) as Manifest;
const properties = manifest.contributes.configuration.properties;

test("the server hears of every setting but the extension's own", () => {
  const keys = serverKeys(manifest);
  assert.equal(keys.length, Object.keys(properties).length - 2);
  assert.ok(keys.includes("hover.enable"));
  assert.ok(!keys.includes("server.path"));
  assert.ok(!keys.includes("trace.server"));
});

test("every setting is named tileperf.* and described", () => {
  for (const [key, setting] of Object.entries(properties)) {
    assert.match(key, /^tileperf\.\w+(\.\w+)*$/);
    assert.ok(setting.description ?? setting.markdownDescription, `${key} has no description`);
  }
});

test("no workspace can choose the program that runs", () => {
  assert.equal(properties["tileperf.server.path"]?.scope, "machine");
});

test("a setting that a workspace may set once it is trusted is withheld until then", () => {
  const restricted = manifest.capabilities.untrustedWorkspaces.restrictedConfigurations;
  const overridable = Object.keys(properties).filter(
    (key) => properties[key]?.scope === "machine-overridable",
  );
  assert.deepEqual(restricted.toSorted(), overridable.toSorted());
});

test("the extension starts for Python only, and where the files are", () => {
  assert.deepEqual(manifest.activationEvents, ["onLanguage:python"]);
  assert.deepEqual(manifest.extensionKind, ["workspace"]);
});

test("dots nest", () => {
  const nested = nest([
    ["hover.enable", false],
    ["hover.width", 80],
    ["archs", ["sm_90"]],
  ]);
  assert.deepEqual(nested, { hover: { enable: false, width: 80 }, archs: ["sm_90"] });
  assert.deepEqual(nest([]), {});
});

test("only a switch that is off hides a surface", () => {
  const off = surfacesOff([
    ["hover.enable", false],
    ["codeLens.enable", true],
    ["quiet", false],
  ]);
  assert.deepEqual(off, ["hover"]);
});
