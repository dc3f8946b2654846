import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";

import { importStream } from "../src/import.js";

async function run(...chunks) {
  const saved = [];
  const stream = Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
  const count = await importStream(stream, async (record) => saved.push(record));
  assert.equal(count, saved.length);
  return saved;
}

test("reads bookings", async () => {
  const saved = await run("2024-01-02\t1250\trent\n2024-01-03\t-300\tcafé\n");
  assert.deepEqual(saved.map((record) => record.cents), [1250, -300]);
});

test("a line may come in pieces", async () => {
  const saved = await run("2024-01-02\t12", "50\tre", "nt\r\n");
  assert.deepEqual(saved, [{ date: "2024-01-02", cents: 1250, text: "rent" }]);
});

test("names the line that is wrong", async () => {
  await assert.rejects(run("2024-01-02\t1\ta\n\nbad\n"), /line 3/);
});
