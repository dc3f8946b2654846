import { randomUUID } from "node:crypto";
import type { Logger } from "../logger.js";
import type { Reservation, ReservationRepository, StockRepository } from "./repository.js";

const HOLD_MS = 15 * 60 * 1000;

export class OutOfStockError extends Error {
  constructor(readonly sku: string) {
    super(`not enough stock of ${sku}`);
  }
}

/** Holds stock for a customer while the checkout is open. */
export class ReservationService {
  constructor(
    private readonly stock: StockRepository,
    private readonly reservations: ReservationRepository,
    private readonly log: Logger,
  ) {}

  async reserve(customerId: string, sku: string, quantity: number): Promise<Reservation> {
    if (!Number.isSafeInteger(quantity) || quantity < 1) {
      throw new RangeError("quantity must be a whole number above zero");
    }
    // One conditional UPDATE: false when fewer than `quantity` are left.
    if (!(await this.stock.take(sku, quantity))) {
      throw new OutOfStockError(sku);
    }
    const reservation: Reservation = {
      id: randomUUID(),
      customerId,
      sku,
      quantity,
      expiresAt: Date.now() + HOLD_MS,
    };
    await this.reservations.insert(reservation);
    return reservation;
  }

  async release(reservation: Reservation): Promise<void> {
    await this.reservations.remove(reservation.id);
    await this.stock.giveBack(reservation.sku, reservation.quantity);
    this.log.info("reservation released", { id: reservation.id });
  }
}
