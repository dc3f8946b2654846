import { average } from "./summary.js";

/** A line of the nightly report. */
export function reportLine(name, durations) {
  return `${name}: ${average(durations).toFixed(0)} ms on average of ${durations.length} calls`;
}
