import type { Subscription } from "./plan.js";

const DAY = 24 * 60 * 60 * 1000;

export interface Renewal {
  readonly at: Date;
  readonly cents: number;
}

/** The next renewals of a subscription, from its start on. */
export function renewals(subscription: Subscription, count: number): Renewal[] {
  const { plan, startedAt } = subscription;
  return Array.from({ length: count }, (_, index) => ({
    at: new Date(startedAt.getTime() + (index + 1) * plan.days * DAY),
    cents: plan.cents,
  }));
}
