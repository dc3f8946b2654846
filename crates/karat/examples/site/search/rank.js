// Rows of the index that have every word: in a heading best, then in the name of a page, then in the text below.
const rank = (query, most) => {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  // The name of a page speaks for the page, and for its parts only where they say something themselves.
  const own = (row, each) => !row[2].includes("#") || each.some((value) => value !== 4);
  const points = ([page, heading, , below], word) => {
    const title = heading.toLowerCase();
    const at = title.indexOf(word);
    if (at === 0) return 12;
    if (at > 0) return /[\w]/.test(title[at - 1]) ? 6 : 9;
    if (page.toLowerCase().includes(word)) return 4;
    return below.toLowerCase().includes(word) ? 1 : 0;
  };
  const found = [];
  for (const [place, row] of INDEX.entries()) {
    const each = words.map((word) => points(row, word));
    if (each.every((value) => value > 0) && own(row, each)) {
      found.push({ row, place, value: each.reduce((sum, value) => sum + value, 0) });
    }
  }
  found.sort((a, b) => b.value - a.value || a.place - b.place);
  return found.slice(0, most).map(({ row }) => row);
};
