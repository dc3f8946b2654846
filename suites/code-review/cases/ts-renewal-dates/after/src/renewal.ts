import { addPeriods } from "./calendar.js";
import type { Subscription } from "./plan.js";

export interface Renewal {
  readonly at: Date;
  readonly cents: number;
}

/** The next renewals of a subscription, from its start on. */
export function renewals(subscription: Subscription, count: number): Renewal[] {
  const { plan, startedAt } = subscription;
  return Array.from({ length: count }, (_, index) => ({
    at: addPeriods(startedAt, plan.period, index + 1),
    cents: plan.cents,
  }));
}

/** The renewal that comes after a moment. */
export function nextRenewal(subscription: Subscription, after: Date): Renewal {
  const { plan, startedAt } = subscription;
  let number = 1;
  let at = addPeriods(startedAt, plan.period, number);
  while (at <= after) {
    number += 1;
    at = addPeriods(startedAt, plan.period, number);
  }
  return { at, cents: plan.cents };
}

/** Whether a reminder is due: three days before a renewal, in the first hour of the day. */
export function reminderDue(subscription: Subscription, now: Date): boolean {
  const { at } = nextRenewal(subscription, now);
  const days = (startOfDay(at).getTime() - startOfDay(now).getTime()) / (24 * 60 * 60 * 1000);
  return days === 3 && now.getUTCHours() === 0;
}

/** Midnight of a day, by universal time. */
function startOfDay(date: Date): Date {
  date.setUTCHours(0, 0, 0, 0);
  return date;
}
