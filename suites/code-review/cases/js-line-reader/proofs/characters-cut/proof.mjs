// Texts arrive as they were sent, wherever the bytes are split.
import { Readable } from "node:stream";

import { importStream } from "./src/import.js";

const bytes = Buffer.from("2024-01-03\t-300\tcafé Zürich\n");
const bad = [];
for (let at = 1; at < bytes.length; at += 1) {
  const stream = Readable.from([bytes.subarray(0, at), bytes.subarray(at)]);
  await importStream(stream, async ({ text }) => text === "café Zürich" || bad.push(`${at}: ${text}`));
}
console.log(bad.join("\n"));
process.exit(bad.length === 0 ? 0 : 1);
