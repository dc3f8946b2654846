import type { Broker, Database } from "./database.js";
import { Outbox } from "./outbox.js";

/** Starts both outboxes; a round every few seconds publishes what an earlier one could not. */
export function startOutboxes(database: Database, broker: Broker, log: (text: string) => void): () => void {
  const onError = (error: unknown): void => log(`outbox: ${String(error)}`);
  const outboxes = [
    new Outbox(database, broker, { onError }),
    new Outbox(database, broker, { table: "outbox_audit", onError }),
  ];
  const timer = setInterval(() => outboxes.forEach((outbox) => outbox.wake()), 5_000);
  return () => clearInterval(timer);
}
