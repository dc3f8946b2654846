import { Cache } from "./cache.js";
import type { Membership, MembershipStore, Permission } from "./model.js";

const GRANTS: Record<Membership["role"], readonly Permission[]> = {
  guest: ["read"],
  member: ["read", "write"],
  owner: ["read", "write", "invite", "delete"],
};

const NOTHING: readonly Permission[] = [];

const entryName = (userId: string, workspaceId: string): string => JSON.stringify([userId, workspaceId]);

export interface AccessOptions {
  /** For how many milliseconds an answer may be repeated. */
  readonly maxAge?: number;
  readonly now?: () => number;
}

/** Answers who may do what; a page asks this dozens of times. */
export class Access {
  private readonly grants: Cache<readonly Permission[]>;

  constructor(
    private readonly store: MembershipStore,
    { maxAge = 30_000, now = Date.now }: AccessOptions = {},
  ) {
    this.grants = new Cache(maxAge, now);
  }

  async allows(userId: string, workspaceId: string, permission: Permission): Promise<boolean> {
    const granted = await this.grants.get(entryName(userId, workspaceId), () => this.load(userId, workspaceId));
    return granted.includes(permission);
  }

  /** Changes a role, with effect from the next question on. */
  async assign(membership: Membership): Promise<void> {
    await this.store.save(membership);
    this.grants.remove(entryName(membership.userId, membership.workspaceId));
  }

  private async load(userId: string, workspaceId: string): Promise<readonly Permission[]> {
    const membership = await this.store.find(userId, workspaceId);
    return membership === undefined ? NOTHING : GRANTS[membership.role];
  }
}
