import { HttpTransport } from "./transport.js";

/** Records what users do; each event is a request of its own. */
export class Recorder {
  constructor(transport, { now = Date.now } = {}) {
    this.transport = transport;
    this.now = now;
  }

  record(name, fields = {}) {
    return this.transport.send([{ name, at: this.now(), ...fields }]);
  }
}

export function createRecorder(url) {
  return new Recorder(new HttpTransport(url));
}
