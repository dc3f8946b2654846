import { defaults } from "./defaults.js";

/** Preferences of workspaces and users, as the settings page edits them. */
export class Preferences {
  constructor(store) {
    this.store = store;
  }

  async read(userId) {
    const saved = await this.store.load(userId);
    return { ...defaults, ...saved };
  }

  async write(userId, body) {
    const given = JSON.parse(body);
    if (given === null || typeof given !== "object" || Array.isArray(given)) {
      throw new TypeError("preferences must be an object");
    }
    await this.store.save(userId, given);
  }
}
