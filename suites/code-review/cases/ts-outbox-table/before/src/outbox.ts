import type { Broker, Database } from "./database.js";

interface Message {
  readonly id: number;
  readonly topic: string;
  readonly body: string;
}

/** Publishes messages that were stored together with the change they tell of. */
export class Outbox {
  constructor(
    private readonly database: Database,
    private readonly broker: Broker,
  ) {}

  async publishAll(): Promise<number> {
    const messages = await this.database.all<Message>("SELECT id, topic, body FROM outbox ORDER BY id", []);
    for (const message of messages) {
      await this.broker.publish(message.id, message.topic, message.body);
      await this.database.run("DELETE FROM outbox WHERE id = ?", [message.id]);
    }
    return messages.length;
  }
}
