// A client that asks often gets as much as one that asks seldom.
import { Limiter } from "./src/limiter.js";

let time = 0;
const limiter = new Limiter({ perMinute: 60, burst: 1, now: () => time });
let allowed = 0;
for (; time <= 60_000; time += 250) {
  allowed += limiter.allow("a") ? 1 : 0;
}
console.log(`${allowed} requests in a minute, 60 may be made`);
process.exit(allowed >= 58 && allowed <= 62 ? 0 : 1);
