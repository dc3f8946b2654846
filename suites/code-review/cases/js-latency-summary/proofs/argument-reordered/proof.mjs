// The report on a probe that became faster says so, and leaves the measurements alone.
import { percentiles, slowdown } from "./src/summary.js";

const durations = [40, 40, 20, 20];
percentiles(durations);
console.log(`${durations}: ${slowdown(durations)}, expected 0.5`);
process.exit(slowdown(durations) === 0.5 ? 0 : 1);
