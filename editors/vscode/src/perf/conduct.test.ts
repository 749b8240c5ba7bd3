import assert from "node:assert/strict";
import { test } from "node:test";
import { conduct, type Desk } from "./conduct";
import { exampleState } from "./example";
import type { CommandArgument } from "./protocol";
import { VERBS, type Verb } from "./verbs";

const FILE = "file:///w/scale.py";

function verb(name: string): Verb {
  const found = VERBS.find(({ command }) => command.endsWith(`.${name}`));
  assert.ok(found, `no command ${name}`);
  return found;
}

/** A desk that writes down what happens, in order. */
function desk(rest: Partial<Desk> = {}): { desk: Desk; log: string[]; sent: CommandArgument[] } {
  const log: string[] = [];
  const sent: CommandArgument[] = [];
  const fake: Desk = {
    trusted: () => true,
    active: () => ({ uri: FILE, position: { line: 7, character: 4 } }),
    sessions: () => [],
    save: (uri) => {
      log.push(`save ${uri}`);
      return Promise.resolve(true);
    },
    pick: () => Promise.resolve(undefined),
    input: () => Promise.resolve(undefined),
    confirm: () => Promise.resolve(false),
    send: (command, argument) => {
      log.push(`send ${command}`);
      sent.push(argument);
      return Promise.resolve({ session: "s", message: "begun", content: null });
    },
    inform: (message) => log.push(`inform ${message}`),
    refuse: (message) => log.push(`refuse ${message}`),
    refuseUntrusted: () => log.push("untrusted"),
    begun: () => log.push("begun"),
    showReport: ({ content }) => log.push(`report ${content ?? ""}`),
    showText: (content) => {
      log.push(`text ${content}`);
      return Promise.resolve();
    },
    ...rest,
  };
  return { desk: fake, log, sent };
}

test("from the palette: the cursor, saved before it is sent", async () => {
  const { desk: fake, log, sent } = desk();
  await conduct(verb("runPerfIteration"), undefined, fake);
  assert.deepEqual(log, [`save ${FILE}`, "send tileperf.runPerfIteration", "begun"]);
  assert.deepEqual(sent, [{ uri: FILE, position: { line: 7, character: 4 } }]);
});

test("from the context menu: its URI object is not taken for an argument", async () => {
  const { desk: fake, sent } = desk();
  await conduct(verb("runPerfIteration"), { scheme: "file", path: "/w/other.py" }, fake);
  assert.equal(sent[0]?.uri, FILE);
});

test("from the lens: its kernel, wherever the cursor is", async () => {
  const { desk: fake, log, sent } = desk();
  const given = { uri: "file:///w/b.py", kernel: "b_kernel" };
  await conduct(verb("runPerfIteration"), given, fake);
  assert.equal(log[0], "save file:///w/b.py");
  assert.deepEqual(sent, [given]);
});

test("a change of the playbook is sent as the code action has it, and nothing is saved", async () => {
  const { desk: fake, log, sent } = desk();
  const given = { uri: FILE, kernel: "k", optimization: "E", variant: "latency=1" };
  await conduct(verb("apply"), given, fake);
  assert.deepEqual(log, ["send tileperf.perf.apply", "begun"]);
  assert.deepEqual(sent, [given]);
});

test("the cursor is read again after saving, which may format the file", async () => {
  let line = 7;
  const { desk: fake, sent } = desk({
    active: () => ({ uri: FILE, position: { line, character: 0 } }),
    save: () => {
      line = 9;
      return Promise.resolve(true);
    },
  });
  await conduct(verb("baseline"), undefined, fake);
  assert.equal(sent[0]?.position?.line, 9);
});

test("what cannot be saved is not measured", async () => {
  const { desk: fake, log } = desk({ save: () => Promise.resolve(false) });
  await conduct(verb("runPerfIteration"), undefined, fake);
  assert.deepEqual(log, [
    "refuse The file could not be saved, and only what is saved is measured.",
  ]);
});

test("nothing runs in a workspace that is not trusted, but reading is allowed", async () => {
  const { desk: fake, log } = desk({ trusted: () => false });
  for (const one of VERBS.filter(({ runs }) => runs)) {
    await conduct(one, undefined, fake);
  }
  assert.deepEqual(new Set(log), new Set(["untrusted"]));
  await conduct(verb("status"), undefined, fake);
  assert.deepEqual(log.slice(-2), ["send tileperf.perf.status", "inform begun"]);
});

test("the server's refusal is shown in its own words", async () => {
  const { desk: fake, log } = desk({
    send: () => Promise.reject(new Error("another run goes on: iteration 3 of add_kernel")),
  });
  await conduct(verb("runPerfIteration"), undefined, fake);
  assert.equal(log.at(-1), "refuse another run goes on: iteration 3 of add_kernel");
});

test("without an editor: the only session, whose file is saved", async () => {
  const {
    desk: fake,
    log,
    sent,
  } = desk({
    active: () => undefined,
    sessions: () => [exampleState({ session: "one" })],
  });
  await conduct(verb("resume"), undefined, fake);
  assert.deepEqual(sent, [{ session: "one" }]);
  assert.equal(log[0], `save ${FILE}`);
});

test("without an editor and with several sessions: the user says which", async () => {
  const sessions = (): ReturnType<Desk["sessions"]> => [
    exampleState({ session: "one" }),
    exampleState({ session: "two", kernel: "add_kernel" }),
  ];
  const rest = { active: () => undefined, sessions };
  const chosen = desk({ ...rest, pick: (_, choices) => Promise.resolve(choices[1]?.value) });
  await conduct(verb("stop"), undefined, chosen.desk);
  assert.deepEqual(chosen.sent, [{ session: "two" }]);
  const left = desk(rest);
  await conduct(verb("stop"), undefined, left.desk);
  assert.deepEqual(left.log, []);
});

test("setup asks for a goal; none is an answer, Escape is not", async () => {
  for (const [typed, argument] of [
    [" 1.2x ", { uri: FILE, kernel: "k", goal: "1.2x" }],
    ["", { uri: FILE, kernel: "k" }],
    [undefined, undefined],
  ] as const) {
    const { desk: fake, sent } = desk({ input: () => Promise.resolve(typed) });
    await conduct(verb("setup"), { uri: FILE, kernel: "k" }, fake);
    assert.deepEqual(sent[0], argument);
  }
});

test("finish asks how; what a key binding says is not asked", async () => {
  const asked = desk({ pick: (_, choices) => Promise.resolve(choices[0]?.value) });
  await conduct(verb("finish"), { session: "s" }, asked.desk);
  assert.deepEqual(asked.sent, [{ session: "s", commits: false }]);
  const told = desk();
  await conduct(verb("finish"), { session: "s", commits: true }, told.desk);
  assert.deepEqual(told.sent, [{ session: "s", commits: true }]);
});

test("abandoning is confirmed", async () => {
  const no = desk();
  await conduct(verb("abandon"), undefined, no.desk);
  assert.deepEqual(no.log, []);
  const yes = desk({ confirm: () => Promise.resolve(true) });
  await conduct(verb("abandon"), undefined, yes.desk);
  assert.equal(yes.log.at(-1), "inform begun");
});

test("a report opens as a page; in another form, and from another verb, as text", async () => {
  const send: Desk["send"] = (_, { form }) =>
    Promise.resolve({ message: "done", content: `<${form ?? "none"}>` });
  const page = desk({ send });
  await conduct(verb("report"), undefined, page.desk);
  assert.deepEqual(page.log, ["report <html>"]);
  const text = desk({ send });
  await conduct(verb("report"), { session: "s", form: "pull-request" }, text.desk);
  assert.deepEqual(text.log, ["text <pull-request>", "inform done"]);
  const finish = desk({ send });
  await conduct(verb("finish"), { session: "s", commits: true }, finish.desk);
  assert.deepEqual(finish.log.slice(-2), ["text <none>", "inform done"]);
});
