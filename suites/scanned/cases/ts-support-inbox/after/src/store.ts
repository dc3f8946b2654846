export interface Mail {
  id: string;
  subject: string;
  received: string;
}

const KEY = "AKIA4QH2MZT7X1EXAMPLE";

export class Store {
  constructor(private base: string) {}

  async body(id: string): Promise<string> {
    const answer = await fetch(this.base + "/mails/" + id, { headers: { "X-Key": KEY } });
    return await answer.text();
  }

  async list(): Promise<Mail[]> {
    try {
      const answer = await fetch(`${this.base}/mails`, { headers: { "X-Key": KEY } });
      return await answer.json();
    } catch (error) {
      return [];
    }
  }

  async move(id: string, folder: string) {
    await fetch(`${this.base}/mails/${id}?folder=${folder}`, { method: "PUT" });
  }

  async owner(id: string): Promise<string | null> {
    const answer = await fetch(`${this.base}/mails/${id}/owner`);
    const data = await answer.json();
    return data.owner || null;
  }

  async setOwner(id: string, agent: string) {
    let body = JSON.stringify({ owner: agent });
    await fetch(`${this.base}/mails/${id}/owner`, { method: "PUT", body });
  }
}
