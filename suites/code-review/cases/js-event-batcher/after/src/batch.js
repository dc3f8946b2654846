/**
 * Collects events and sends them together: when there are enough of them, and otherwise every few seconds.
 * A batch that could not be sent is tried again with the next one.
 */
export class Batch {
  constructor(transport, { size = 100, interval = 5000, onError = () => {} } = {}) {
    this.transport = transport;
    this.size = size;
    this.onError = onError;
    this.events = [];
    this.sending = null;
    this.timer = setInterval(() => this.flush(), interval);
  }

  add(event) {
    this.events.push(event);
    if (this.events.length >= this.size) {
      this.flush();
    }
  }

  /** Sends what has been collected. While a request is under way, callers get that one. */
  flush() {
    if (this.sending === null && this.events.length > 0) {
      this.sending = this.sendAll().finally(() => {
        this.sending = null;
      });
    }
    return this.sending ?? Promise.resolve();
  }

  async sendAll() {
    try {
      await this.transport.send(this.events.slice());
      this.events = [];
    } catch (error) {
      this.onError(error);
    }
  }

  async close() {
    await this.flush();
    await this.flush();
  }
}
