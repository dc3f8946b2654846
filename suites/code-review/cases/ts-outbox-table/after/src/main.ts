import type { Broker, Database } from "./database.js";
import { Outbox } from "./outbox.js";

export interface Outboxes {
  readonly orders: Outbox;
  readonly audit: Outbox;
  readonly stop: () => void;
}

/** Starts both outboxes; a round every few seconds publishes what an earlier one could not. */
export function startOutboxes(database: Database, broker: Broker, log: (text: string) => void): Outboxes {
  const onError = (error: unknown): void => log(`outbox: ${String(error)}`);
  const orders = new Outbox(database, broker, { onError });
  const audit = new Outbox(database, broker, { table: "outbox_audit", onError });
  const timer = setInterval(() => [orders, audit].forEach((outbox) => outbox.wake()), 5_000);
  return { orders, audit, stop: () => clearInterval(timer) };
}
