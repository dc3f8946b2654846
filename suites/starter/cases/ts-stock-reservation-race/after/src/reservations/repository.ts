export interface Reservation {
  id: string;
  customerId: string;
  sku: string;
  quantity: number;
  /** Milliseconds since the epoch. */
  expiresAt: number;
}

export interface StockLevel {
  sku: string;
  available: number;
}

/** Rows of the `stock` table. */
export interface StockRepository {
  /** `SELECT sku, available FROM stock WHERE sku = $1` */
  levelOf(sku: string): Promise<StockLevel>;

  /** `UPDATE stock SET available = $2 WHERE sku = $1` */
  setAvailable(sku: string, available: number): Promise<void>;

  /** Adds `quantity` to the stock in one statement. */
  giveBack(sku: string, quantity: number): Promise<void>;
}

/** Rows of the `reservations` table. */
export interface ReservationRepository {
  insert(reservation: Reservation): Promise<void>;
  remove(id: string): Promise<void>;
  /** Reservations that expired before `time`, oldest first. */
  expiredBefore(time: number): Promise<Reservation[]>;
}
