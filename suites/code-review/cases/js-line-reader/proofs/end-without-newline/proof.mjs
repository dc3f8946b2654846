// The last booking counts also where its line has no end.
import { Readable } from "node:stream";

import { importStream } from "./src/import.js";

const stream = Readable.from([Buffer.from("2024-01-02\t1250\trent\n2024-01-03\t-300\tlunch")]);
const count = await importStream(stream, async () => {});
console.log(`${count} bookings of 2`);
process.exit(count === 2 ? 0 : 1);
