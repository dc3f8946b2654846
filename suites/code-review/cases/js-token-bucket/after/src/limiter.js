import { Bucket } from "./bucket.js";

/** Allows each client a number of requests per minute, evenly over time, and a few at once. */
export class Limiter {
  constructor({ perMinute, burst = 10, now = Date.now }) {
    this.perMinute = perMinute;
    this.burst = burst;
    this.now = now;
    this.buckets = new Map();
  }

  /** Whether the client may make a request now; a request that may be made is counted. */
  allow(client) {
    let bucket = this.buckets.get(client);
    if (bucket === undefined) {
      bucket = new Bucket({ perSecond: this.perMinute / 60, capacity: this.burst, now: this.now });
      this.buckets.set(client, bucket);
    }
    return bucket.take();
  }

  /** Forgets clients that could make a full burst anyway; the gateway calls it once a minute. */
  sweep() {
    for (const [client, bucket] of this.buckets) {
      if (bucket.isFull()) {
        this.buckets.delete(client);
      }
    }
  }
}
