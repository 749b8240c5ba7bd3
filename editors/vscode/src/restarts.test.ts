import assert from "node:assert/strict";
import { test } from "node:test";
import { Restarts } from "./restarts";

test("the fifth death within three minutes is the last", () => {
  const restarts = new Restarts();
  const answers = [0, 1000, 2000, 3000, 4000].map((now) => restarts.again(now));
  assert.deepEqual(answers, [true, true, true, true, false]);
});

test("deaths far apart never add up", () => {
  const restarts = new Restarts();
  for (let death = 0; death < 20; death++) {
    assert.ok(restarts.again(death * 60_000), `death ${death}`);
  }
});
