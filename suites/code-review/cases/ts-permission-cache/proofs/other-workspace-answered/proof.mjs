import { Access } from "./build/access.js";

const store = {
  async find(userId, workspaceId) {
    return workspaceId === "own" ? { userId, workspaceId, role: "owner" } : undefined;
  },
  async save() {},
};
const access = new Access(store, { now: () => 0 });
const own = await access.allows("u1", "own", "delete");
const foreign = await access.allows("u1", "foreign", "delete");
console.log({ own, foreign });
process.exit(own && !foreign ? 0 : 1);
