import type { Broker, Database } from "./database.js";

interface Message {
  readonly id: number;
  readonly topic: string;
  readonly body: string;
}

/** Tables that hold messages. */
export type OutboxTable = "outbox" | "outbox_audit";

export interface OutboxOptions {
  readonly table?: OutboxTable;
  /** How many messages a round takes at most. */
  readonly batch?: number;
  readonly onError?: (error: unknown) => void;
}

/** Publishes messages that were stored together with the change they tell of. */
export class Outbox {
  private readonly table: OutboxTable;
  private readonly batch: number;
  private readonly onError: (error: unknown) => void;
  private round: Promise<number> | undefined;

  constructor(
    private readonly database: Database,
    private readonly broker: Broker,
    { table = "outbox", batch = 100, onError = () => {} }: OutboxOptions = {},
  ) {
    this.table = table;
    this.batch = batch;
    this.onError = onError;
  }

  /** To be called after each transaction that stored messages. Does not keep the caller waiting. */
  wake(): void {
    this.publishAll().catch(this.onError);
  }

  /** Publishes what is stored. Calls during a round get the result of that round, and a further call starts another. */
  publishAll(): Promise<number> {
    this.round ??= this.publishRound().finally(() => {
      this.round = undefined;
    });
    return this.round;
  }

  private async publishRound(): Promise<number> {
    let count = 0;
    for (;;) {
      const messages = await this.database.all<Message>(
        `SELECT id, topic, body FROM ${this.table} ORDER BY id LIMIT ?`,
        [this.batch],
      );
      if (messages.length === 0) {
        return count;
      }
      // Receivers rely on the order, so that a message waits until the one before it was taken.
      for (const message of messages) {
        await this.broker.publish(message.id, message.topic, message.body);
        await this.database.run(`DELETE FROM ${this.table} WHERE id = ?`, [message.id]);
        count += 1;
      }
    }
  }
}
