import { sync } from "./build/sync.js";

const remote = {
  async upload(file) {
    if (file.path === "a") {
      throw new Error("refused");
    }
  },
};
const files = ["a", "b"].map((path) => ({ path, bytes: 1 }));
const turns = (async () => {
  for (let i = 0; i < 100; i += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  return "still waiting";
})();
const result = await Promise.race([sync(files, remote, { parallel: 1 }), turns]);
console.log(result);
process.exit(result.uploaded?.join() === "b" ? 0 : 1);
