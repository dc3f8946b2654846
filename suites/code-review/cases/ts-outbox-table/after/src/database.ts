/** A connection on which statements run one after the other. */
export interface Database {
  run(sql: string, values: readonly unknown[]): Promise<{ changes: number }>;
  all<Row>(sql: string, values: readonly unknown[]): Promise<Row[]>;
}

/** Where messages go. A message may arrive more than once, and receivers tell by its id. */
export interface Broker {
  publish(id: number, topic: string, body: string): Promise<void>;
}
