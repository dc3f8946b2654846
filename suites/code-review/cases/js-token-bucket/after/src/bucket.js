/** Tokens that come back at a steady rate, up to a capacity. */
export class Bucket {
  constructor({ perSecond, capacity, now }) {
    this.perSecond = perSecond;
    this.capacity = capacity;
    this.now = now;
    this.tokens = capacity;
    this.updated = now();
  }

  /** Takes a token if there is one. */
  take() {
    this.refill();
    if (this.tokens < 1) {
      return false;
    }
    this.tokens -= 1;
    return true;
  }

  isFull() {
    this.refill();
    return this.tokens === this.capacity;
  }

  refill() {
    const now = this.now();
    const back = Math.floor(((now - this.updated) / 1000) * this.perSecond);
    this.tokens = Math.min(this.capacity, this.tokens + back);
    this.updated = now;
  }
}
