import assert from "node:assert/strict";
import { test } from "node:test";

import { Limiter } from "../src/limiter.js";

test("a burst, then nothing", () => {
  const limiter = new Limiter({ perMinute: 60, burst: 3, now: () => 0 });
  const answers = Array.from({ length: 4 }, () => limiter.allow("a"));
  assert.deepEqual(answers, [true, true, true, false]);
});

test("tokens come back", () => {
  let time = 0;
  const limiter = new Limiter({ perMinute: 60, burst: 1, now: () => time });
  assert.equal(limiter.allow("a"), true);
  time = 1000;
  assert.equal(limiter.allow("a"), true);
});

test("a client that has used tokens is remembered", () => {
  const limiter = new Limiter({ perMinute: 60, burst: 3, now: () => 0 });
  limiter.allow("a");
  limiter.sweep();
  assert.equal(limiter.buckets.size, 1);
});
