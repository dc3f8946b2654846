/** What applies where neither the workspace nor the user says otherwise. */
export const defaults = {
  theme: "light",
  editor: { fontSize: 14, wrap: true },
  notifications: { mail: true, mentions: true },
};
