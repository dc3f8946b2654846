import { readFile } from "node:fs/promises";

import { parseRecord } from "./record.js";

/** Imports an export of the bank; returns how many bookings it has. */
export async function importFile(path, save) {
  const text = await readFile(path, "utf8");
  let count = 0;
  for (const [index, line] of text.split("\n").entries()) {
    if (line !== "") {
      await save(parseRecord(line, index + 1));
      count += 1;
    }
  }
  return count;
}
