/** How long a period is: some days, or some months of the calendar. */
export type Period = { readonly unit: "day"; readonly count: number } | { readonly unit: "month"; readonly count: number };

/** What customers subscribe to. */
export interface Plan {
  readonly name: string;
  readonly cents: number;
  readonly period: Period;
}

export interface Subscription {
  readonly id: string;
  readonly plan: Plan;
  readonly startedAt: Date;
}
