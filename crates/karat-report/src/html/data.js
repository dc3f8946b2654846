// The cases lie in the page, compressed. The index is unpacked at once, the rest when somebody opens a case.

// What lies further down may not be read yet.
const whole = new Promise((done) => {
  if (document.readyState !== "loading") done();
  else addEventListener("DOMContentLoaded", done, { once: true });
});
const decompressed = (text) => {
  const packed = atob(text);
  const bytes = new Uint8Array(packed.length);
  for (let at = 0; at < packed.length; at += 1) bytes[at] = packed.charCodeAt(at);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
};
const unpacked = async (id) => {
  if (!document.getElementById(id)?.nextSibling) await whole;
  return decompressed(document.getElementById(id).textContent.trim()).json();
};

const index = await unpacked("index");
const placeOf = new Map(index.ids.map((id, at) => [id, at]));
const toolOf = new Map(index.tools.map((tool, at) => [tool, at]));
const firstOf = (() => {
  const first = [];
  index.portion.forEach((portion, at) => (first[portion] ??= at));
  return first;
})();

// A few portions are kept, the latest used last.
const kept = new Map();
const detail = async (at) => {
  const portion = index.portion[at];
  const found = kept.get(portion) ?? unpacked(`portion-${portion}`);
  kept.delete(portion);
  kept.set(portion, found);
  if (kept.size > 12) kept.delete(kept.keys().next().value);
  return (await found)[at - firstOf[portion]];
};

// What one cell of the grid says.
const cell = (tool, at) => {
  const column = index.cells[tool];
  const value = column.value[at];
  return {
    value: value === null ? null : value / 1000,
    tp: column.tp[at],
    fp: column.fp[at],
    missed: column.missed[at],
    failed: column.failed[at],
    unavailable: column.unavailable[at],
    flaky: (column.flags[at] & 1) > 0,
    lucky: (column.flags[at] & 2) > 0,
  };
};
