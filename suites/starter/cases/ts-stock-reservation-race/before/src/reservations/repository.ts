export interface Reservation {
  id: string;
  customerId: string;
  sku: string;
  quantity: number;
  /** Milliseconds since the epoch. */
  expiresAt: number;
}

/** Rows of the `stock` table. */
export interface StockRepository {
  /**
   * Takes `quantity` off the stock in one statement,
   * `UPDATE stock SET available = available - $2 WHERE sku = $1 AND available >= $2`.
   * Answers whether a row was changed.
   */
  take(sku: string, quantity: number): Promise<boolean>;

  /** Adds `quantity` to the stock in one statement. */
  giveBack(sku: string, quantity: number): Promise<void>;
}

/** Rows of the `reservations` table. */
export interface ReservationRepository {
  insert(reservation: Reservation): Promise<void>;
  remove(id: string): Promise<void>;
}
