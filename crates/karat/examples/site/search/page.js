// The page that searches all text; what to look for stands in its address.
{
  const results = document.querySelector("#results");
  const said = document.querySelector("#said");

  // Some of the text around the first word that is found in it.
  const around = (below, words) => {
    const lower = below.toLowerCase();
    const places = words.map((word) => lower.indexOf(word)).filter((place) => place >= 0);
    const from = Math.max(0, Math.min(...places, below.length) - 60);
    const start = from === 0 || places.length === 0 ? 0 : below.indexOf(" ", from) + 1;
    const end = below.length > start + 200 ? below.lastIndexOf(" ", start + 200) : below.length;
    return `${start > 0 ? "… " : ""}${below.slice(start, Math.max(end, start))}${end < below.length ? " …" : ""}`;
  };

  const look = () => {
    const asked = new URLSearchParams(location.hash.slice(1)).get("q") ?? "";
    const words = asked.toLowerCase().split(/\s+/).filter(Boolean);
    if (document.activeElement !== find.box) find.box.value = asked;
    results.replaceChildren();
    if (words.length === 0) {
      said.textContent = "Type what to look for; all words must be there.";
      find.box.focus();
      return;
    }
    const found = rank(asked, 50);
    for (const [page, heading, href, below] of found) {
      const item = document.createElement("li");
      const link = document.createElement("a");
      const name = document.createElement("span");
      const text = document.createElement("p");
      link.href = href;
      link.textContent = heading;
      name.textContent = heading === page ? "" : ` ${page}`;
      name.className = "dim";
      text.textContent = around(below, words);
      item.append(link, name, text);
      results.append(item);
    }
    const many = found.length === 50 ? "The first 50 places" : found.length === 1 ? "One place" : `${found.length} places`;
    said.textContent = found.length === 0 ? `Nothing has all of “${asked}”. Fewer words may help.` : `${many} with “${asked}”`;
  };

  // Here the box searches as one types, and the page shows what it finds.
  find.box.addEventListener("input", () => {
    find.close();
    location.replace(`#q=${encodeURIComponent(find.box.value.trim())}`);
  });
  find.box.addEventListener("focus", find.close);
  addEventListener("hashchange", look);
  look();
}
