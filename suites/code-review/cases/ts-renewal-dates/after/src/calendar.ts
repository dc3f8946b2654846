import type { Period } from "./plan.js";

/** The moment that lies a number of periods after another one, at the same time of the day. */
export function addPeriods(start: Date, period: Period, times: number): Date {
  const result = new Date(start);
  switch (period.unit) {
    case "day":
      result.setUTCDate(result.getUTCDate() + period.count * times);
      return result;
    case "month":
      result.setUTCMonth(result.getUTCMonth() + period.count * times);
      return result;
  }
}
