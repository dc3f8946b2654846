/** A text in which no character has a meaning of its own in a regular expression. */
export function escapeText(text) {
  return text.replace(/[\\^$.*+?()[\]{}|\/]/g, "\\$&");
}

/** Finds a text where it begins a word. */
export function wordStart(text, flags = "iu") {
  return new RegExp(`(?<![\\p{L}\\p{N}])${escapeText(text)}`, flags);
}
