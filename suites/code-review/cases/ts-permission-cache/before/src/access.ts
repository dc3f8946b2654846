import type { Membership, MembershipStore, Permission } from "./model.js";

const GRANTS: Record<Membership["role"], readonly Permission[]> = {
  guest: ["read"],
  member: ["read", "write"],
  owner: ["read", "write", "invite", "delete"],
};

/** Answers who may do what. */
export class Access {
  constructor(private readonly store: MembershipStore) {}

  async allows(userId: string, workspaceId: string, permission: Permission): Promise<boolean> {
    const membership = await this.store.find(userId, workspaceId);
    return membership !== undefined && GRANTS[membership.role].includes(permission);
  }
}
