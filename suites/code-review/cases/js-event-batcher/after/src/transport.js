/** Sends events to the collector as one request. */
export class HttpTransport {
  constructor(url, fetchImpl = fetch) {
    this.url = url;
    this.fetch = fetchImpl;
  }

  async send(events) {
    const response = await this.fetch(this.url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ events }),
    });
    if (!response.ok) {
      throw new Error(`collector answered ${response.status}`);
    }
  }
}
