import assert from "node:assert/strict";
import { test } from "node:test";

import { percentiles, slowdown } from "../src/summary.js";

test("percentiles of some calls", () => {
  assert.deepEqual(percentiles([30, 10, 20, 40], [50, 99]), { p50: 20, p99: 40 });
});

test("no calls", () => {
  assert.deepEqual(percentiles([], [50]), { p50: 0 });
});

test("calls that take longer and longer", () => {
  assert.equal(slowdown([10, 10, 20, 20]), 2);
});
