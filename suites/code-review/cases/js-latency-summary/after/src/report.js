import { average, percentiles, slowdown } from "./summary.js";

/** A paragraph of the nightly report. */
export function reportLine(name, durations) {
  const { p50, p95, p99 } = percentiles(durations);
  const parts = [
    `${name}: ${average(durations).toFixed(0)} ms on average of ${durations.length} calls`,
    `p50 ${p50} ms, p95 ${p95} ms, p99 ${p99} ms`,
    `second half ${slowdown(durations).toFixed(2)} times as long as the first`,
  ];
  return parts.join("; ");
}
