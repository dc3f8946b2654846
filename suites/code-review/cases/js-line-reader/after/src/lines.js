/** The lines of a stream of bytes, without their ends. */
export async function* lines(stream) {
  let rest = "";
  for await (const chunk of stream) {
    rest += chunk.toString("utf8");
    let start = 0;
    for (let end = rest.indexOf("\n"); end !== -1; end = rest.indexOf("\n", start)) {
      yield withoutReturn(rest.slice(start, end));
      start = end + 1;
    }
    rest = rest.slice(start);
  }
}

function withoutReturn(line) {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}
