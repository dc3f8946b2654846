// An event that is added while a request is under way is sent with the next one.
import { Batch } from "./src/batch.js";

const sent = [];
let answer;
const transport = {
  send(events) {
    sent.push(...events.map((event) => event.name));
    return new Promise((resolve) => {
      answer = resolve;
    });
  },
};
const batch = new Batch(transport, { interval: 1 << 30 });
batch.add({ name: "a" });
const first = batch.flush();
batch.add({ name: "b" });
answer();
await first;
const second = batch.flush();
answer();
await second;
console.log(sent.join());
process.exit(sent.join() === "a,b" ? 0 : 1);
