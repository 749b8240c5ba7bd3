import assert from "node:assert/strict";
import { test } from "node:test";
import { secured } from "./reportPage";

test("the policy is the first thing in the head, and allows neither scripts nor requests", () => {
  const page = secured(
    '<!doctype html><html lang="en"><head lang="en"><style>p{}</style></head></html>',
  );
  const policy =
    /<head lang="en"><meta http-equiv="Content-Security-Policy" content="([^"]*)"><style>/;
  const allowed = policy.exec(page)?.[1] ?? "";
  assert.match(allowed, /^default-src 'none';/);
  assert.doesNotMatch(allowed, /script|https?:|\*/);
});

test("a header is not a head, and a page without a head gets one", () => {
  const page = secured("<header>Results</header>");
  assert.match(page, /^<!DOCTYPE html><html><head><meta [^>]*><\/head><body><header>Results/);
});
