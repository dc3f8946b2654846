// Once it is closed, nothing of a batch keeps the process alive.
import { Batch } from "./src/batch.js";

const started = new Set();
const { setInterval: start, clearInterval: stop } = globalThis;
globalThis.setInterval = (...args) => {
  const timer = start(...args);
  started.add(timer);
  return timer;
};
globalThis.clearInterval = (timer) => {
  started.delete(timer);
  stop(timer);
};
const batch = new Batch({ send: async () => {} }, { interval: 1 << 30 });
batch.add({ name: "a" });
await batch.close();
const alive = [...started].filter((timer) => timer.hasRef());
console.log(`${alive.length} timers are left`);
process.exit(alive.length === 0 ? 0 : 1);
