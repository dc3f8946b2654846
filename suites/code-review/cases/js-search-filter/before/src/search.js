/** The notes whose title contains a text, in any case. */
export function search(notes, text) {
  const wanted = text.toLowerCase();
  return notes.filter((note) => note.title.toLowerCase().includes(wanted));
}
