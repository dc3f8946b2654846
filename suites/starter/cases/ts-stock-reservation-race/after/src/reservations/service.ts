import { randomUUID } from "node:crypto";
import type { Logger } from "../logger.js";
import type { Reservation, ReservationRepository, StockRepository } from "./repository.js";

const HOLD_MS = 15 * 60 * 1000;

export class OutOfStockError extends Error {
  constructor(
    readonly sku: string,
    readonly available: number,
  ) {
    super(`only ${available} left of ${sku}`);
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
    const level = await this.stock.levelOf(sku);
    if (level.available < quantity) {
      throw new OutOfStockError(sku, level.available);
    }
    await this.stock.setAvailable(sku, level.available - quantity);

    const reservation: Reservation = {
      id: randomUUID(),
      customerId,
      sku,
      quantity,
      expiresAt: Date.now() + HOLD_MS,
    };
    this.reservations.insert(reservation);
    this.log.info("reservation made", { id: reservation.id, sku, quantity });
    return reservation;
  }

  async release(reservation: Reservation): Promise<void> {
    await this.reservations.remove(reservation.id);
    await this.stock.giveBack(reservation.sku, reservation.quantity);
    this.log.info("reservation released", { id: reservation.id });
  }

  /** Gives back all holds that ran out, and says how many there were. */
  async releaseExpired(now: number = Date.now()): Promise<number> {
    let released = 0;
    for (const reservation of await this.reservations.expiredBefore(now)) {
      try {
        await this.release(reservation);
      } catch {
        // The next sweep will see to it.
      }
      released += 1;
    }
    return released;
  }
}
