// What one user saves must not appear in objects of the rest of the program.
import { Preferences } from "./src/preferences.js";

const saved = new Map();
const store = { load: async (id) => saved.get(id), save: async (id, value) => saved.set(id, value) };
const preferences = new Preferences(store);
await preferences.write("u1", '{"__proto__": {"isAdmin": true}}');
await preferences.write("u1", '{"constructor": {"prototype": {"isAdmin": true}}}');
console.log(`isAdmin of an empty object: ${{}.isAdmin}`);
process.exit({}.isAdmin === undefined ? 0 : 1);
