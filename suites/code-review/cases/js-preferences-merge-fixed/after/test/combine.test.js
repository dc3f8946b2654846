import assert from "node:assert/strict";
import { test } from "node:test";

import { combine } from "../src/combine.js";

test("groups are combined", () => {
  const combined = combine({ editor: { fontSize: 14, wrap: true } }, { editor: { wrap: false } });
  assert.deepEqual(combined, { editor: { fontSize: 14, wrap: false } });
});

test("null removes a value", () => {
  assert.deepEqual(combine({ theme: "dark", locale: "de" }, { theme: null }), { locale: "de" });
});

test("lists are replaced", () => {
  assert.deepEqual(combine({ pinned: ["a", "b"] }, { pinned: ["c"] }), { pinned: ["c"] });
});
