import { wordStart } from "./pattern.js";

const FIELDS = new Map([
  ["title", (note) => note.title],
  ["body", (note) => note.body],
  ["tag", (note) => note.tags.join(" ")],
]);

/**
 * The notes that contain all words of a query, in any case. `title:word` looks into one field; other words are looked
 * for in title and body.
 */
export function search(notes, query) {
  const tests = query.split(/\s+/).filter(Boolean).map(parseTerm);
  return notes.filter((note) => tests.every((matches) => matches(note)));
}

function parseTerm(term) {
  const colon = term.indexOf(":");
  const read = FIELDS.get(term.slice(0, Math.max(colon, 0)));
  if (read == null) {
    const pattern = wordStart(term);
    return (note) => pattern.test(note.title) || pattern.test(note.body);
  }
  const pattern = wordStart(term.slice(colon + 1));
  return (note) => pattern.test(read(note));
}

/** A text with what was found in `<mark>`; the text is escaped and may be put into a page. */
export function highlight(text, word) {
  const pattern = wordStart(word, "giu");
  let html = "";
  let end = 0;
  for (const match of word === "" ? [] : text.matchAll(pattern)) {
    html += `${escapeHtml(text.slice(end, match.index))}<mark>${escapeHtml(match[0])}</mark>`;
    end = match.index + match[0].length;
  }
  return html + escapeHtml(text.slice(end));
}

const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

function escapeHtml(text) {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character]);
}
