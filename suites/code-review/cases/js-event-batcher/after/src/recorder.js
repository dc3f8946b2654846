import { Batch } from "./batch.js";
import { HttpTransport } from "./transport.js";

/** Records what users do; events travel in batches. */
export class Recorder {
  constructor(transport, { now = Date.now, ...options } = {}) {
    this.batch = new Batch(transport, options);
    this.now = now;
  }

  record(name, fields = {}) {
    this.batch.add({ name, at: this.now(), ...fields });
  }

  /** Sends what is left; to be called before the program ends. */
  close() {
    return this.batch.close();
  }
}

export function createRecorder(url, options) {
  return new Recorder(new HttpTransport(url), options);
}
