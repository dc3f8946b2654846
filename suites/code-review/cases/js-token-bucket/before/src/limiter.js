/** Allows each client a number of requests per minute, counted from the full minute on. */
export class Limiter {
  constructor({ perMinute, now = Date.now }) {
    this.perMinute = perMinute;
    this.now = now;
    this.minute = 0;
    this.counts = new Map();
  }

  /** Whether the client may make a request now; a request that may be made is counted. */
  allow(client) {
    const minute = Math.floor(this.now() / 60_000);
    if (minute !== this.minute) {
      this.minute = minute;
      this.counts.clear();
    }
    const count = this.counts.get(client) ?? 0;
    if (count >= this.perMinute) {
      return false;
    }
    this.counts.set(client, count + 1);
    return true;
  }
}
