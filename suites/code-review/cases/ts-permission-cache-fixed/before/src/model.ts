/** What somebody may do in a workspace. */
export type Permission = "read" | "write" | "invite" | "delete";

export interface Membership {
  readonly userId: string;
  readonly workspaceId: string;
  readonly role: "guest" | "member" | "owner";
}

/** Where memberships are kept; each call is a query. */
export interface MembershipStore {
  find(userId: string, workspaceId: string): Promise<Membership | undefined>;
  save(membership: Membership): Promise<void>;
}
