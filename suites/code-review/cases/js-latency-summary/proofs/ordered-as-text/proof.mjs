// Numbers of different length come in the order of their values.
import { percentiles } from "./src/summary.js";

const { p50 } = percentiles([9, 8, 100], [50]);
console.log(`p50 is ${p50}, expected 9`);
process.exit(p50 === 9 ? 0 : 1);
