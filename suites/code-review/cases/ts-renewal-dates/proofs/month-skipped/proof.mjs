import { renewals } from "./build/renewal.js";

const plan = { name: "pro", cents: 900, period: { unit: "month", count: 1 } };
const found = renewals({ id: "s1", plan, startedAt: new Date("2025-01-31T10:00:00Z") }, 3);
const days = found.map(({ at }) => at.toISOString().slice(0, 10)).join();
console.log(days);
process.exit(days === "2025-02-28,2025-03-31,2025-04-30" ? 0 : 1);
