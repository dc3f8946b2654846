// What a team would switch on for safety: eslint's own recommendations, the security plug-in, and typescript-eslint with types.
import js from "@eslint/js";
import security from "eslint-plugin-security";
import promise from "eslint-plugin-promise";
import typescript from "@typescript-eslint/eslint-plugin";
import parser from "@typescript-eslint/parser";

const shared = {
  eqeqeq: "warn",
  "no-await-in-loop": "warn",
  "require-atomic-updates": "warn",
  "no-promise-executor-return": "warn",
  "array-callback-return": "warn",
};

export default [
  { ...js.configs.recommended, files: ["**/*.js"] },
  { ...security.configs.recommended, files: ["**/*.js", "**/*.ts"] },
  { ...promise.configs["flat/recommended"], files: ["**/*.js", "**/*.ts"] },
  {
    files: ["**/*.js"],
    languageOptions: {
      globals: Object.fromEntries(
        ["process", "Buffer", "console", "setTimeout", "clearTimeout", "setInterval", "clearInterval", "setImmediate",
          "URL", "fetch", "structuredClone", "performance", "require", "module", "exports", "__dirname"].map((name) => [name, "readonly"]),
      ),
    },
    rules: shared,
  },
  ...typescript.configs["flat/recommended-type-checked"].map((config) => ({ ...config, files: ["**/*.ts"] })),
  {
    files: ["**/*.ts"],
    languageOptions: { parser, parserOptions: { projectService: true } },
    rules: { ...shared, "@typescript-eslint/no-floating-promises": ["warn", { ignoreVoid: false }] },
  },
];
