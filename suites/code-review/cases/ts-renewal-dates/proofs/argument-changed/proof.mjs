import { reminderDue } from "./build/renewal.js";

const plan = { name: "pro", cents: 900, period: { unit: "day", count: 10 } };
const subscription = { id: "s1", plan, startedAt: new Date("2025-03-01T00:00:00Z") };
const now = new Date("2025-03-08T15:30:00Z");
const due = reminderDue(subscription, now);
console.log(due, now.toISOString());
process.exit(!due && now.toISOString() === "2025-03-08T15:30:00.000Z" ? 0 : 1);
