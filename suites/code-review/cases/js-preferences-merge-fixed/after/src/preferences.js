import { defaults } from "./defaults.js";
import { combine } from "./combine.js";

/** Preferences of workspaces and users, as the settings page edits them. */
export class Preferences {
  constructor(store) {
    this.store = store;
  }

  /** Defaults, then the workspace's preferences, then the user's own. */
  async read(userId, workspaceId) {
    const [workspace, user] = await Promise.all([this.store.load(workspaceId), this.store.load(userId)]);
    return [workspace, user].reduce(combine, structuredClone(defaults));
  }

  /** Changes only what the body names; the rest stays as it is. */
  async write(id, body) {
    const given = JSON.parse(body);
    if (given === null || typeof given !== "object" || Array.isArray(given)) {
      throw new TypeError("preferences must be an object");
    }
    const saved = (await this.store.load(id)) ?? {};
    await this.store.save(id, combine(saved, given));
  }
}
