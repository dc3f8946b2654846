import { createReadStream } from "node:fs";

import { lines } from "./lines.js";
import { parseRecord } from "./record.js";

/** Imports an export of the bank; returns how many bookings it has. */
export function importFile(path, save) {
  return importStream(createReadStream(path), save);
}

/** Imports what a client uploads, while it comes in. */
export async function importStream(stream, save) {
  let count = 0;
  let number = 0;
  for await (const line of lines(stream)) {
    number += 1;
    if (line !== "") {
      await save(parseRecord(line, number));
      count += 1;
    }
  }
  return count;
}
