import assert from "node:assert/strict";
import { test } from "node:test";

import { Batch } from "../src/batch.js";

class Memory {
  requests = [];

  async send(events) {
    this.requests.push(events);
  }
}

test("sends when there are enough events", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const memory = new Memory();
  const batch = new Batch(memory, { size: 2 });
  batch.add({ name: "a" });
  assert.equal(memory.requests.length, 0);
  batch.add({ name: "b" });
  await batch.flush();
  assert.deepEqual(memory.requests, [[{ name: "a" }, { name: "b" }]]);
});

test("keeps events that were not sent", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const batch = new Batch({ send: () => Promise.reject(new Error("down")) });
  batch.add({ name: "a" });
  await batch.flush();
  assert.equal(batch.events.length, 1);
});
