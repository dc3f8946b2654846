/** Whether a value has fields that can be combined one by one. */
function isGroup(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

/**
 * Takes the values of `source` into `target`, group by group, and returns `target`.
 * A value of `null` removes what was there; lists are replaced as a whole.
 */
export function combine(target, source) {
  for (const key of Object.keys(source ?? {})) {
    if (key === "__proto__" || key === "constructor" || key === "prototype") {
      continue;
    }
    const value = source[key];
    if (value === null) {
      delete target[key];
    } else if (isGroup(value)) {
      if (!isGroup(target[key])) {
        target[key] = {};
      }
      combine(target[key], value);
    } else {
      target[key] = value;
    }
  }
  return target;
}
