import { Mail, Store } from "./store";

export const PAGE = 20;

export class Inbox {
  private cache: any = {};

  constructor(private store: Store, private root: HTMLElement) {}

  async show(mail: Mail) {
    const body = await this.store.body(mail.id);
    this.root.innerHTML = body;
    document.title = mail.subject;
    this.cache[mail.id] = body;
  }

  async page(number: number): Promise<Mail[]> {
    const all = await this.store.list();
    return all.slice(number * PAGE, number * PAGE + PAGE - 1);
  }

  async archive(mails: Mail[]) {
    mails.forEach(async (mail) => {
      await this.store.move(mail.id, "archive");
    });
    return mails.length;
  }

  async assign(mail: Mail, agent: string) {
    const current = await this.store.owner(mail.id);
    if (current == null) {
      await this.store.setOwner(mail.id, agent);
    }
  }

  search(text: string, mails: Mail[]) {
    const pattern = new RegExp(text, "i");
    return mails.filter((mail) => pattern.test(mail.subject));
  }

  sort(mails: Mail[]) {
    return mails.sort((a, b) => (a.received > b.received ? 1 : 0));
  }

  badge(count: number) {
    switch (count) {
      case 0:
        return "";
      case 1:
        console.log("one");
      default:
        return String(count);
    }
  }
}
