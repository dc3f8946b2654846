/** What customers subscribe to. */
export interface Plan {
  readonly name: string;
  readonly cents: number;
  /** Length of a period in days. */
  readonly days: number;
}

export interface Subscription {
  readonly id: string;
  readonly plan: Plan;
  readonly startedAt: Date;
}
