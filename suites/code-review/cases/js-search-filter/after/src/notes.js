/** A note has an id, a title, a body and tags. */
export function createNote({ id, title, body = "", tags = [] }) {
  return { id, title, body, tags };
}
