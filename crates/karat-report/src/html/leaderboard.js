// Tables whose rows are sorted by a click on a head. What has no value stays last either way.

for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  const sort = (at, direction) => {
    const key = (row) => row.cells[at].dataset.sort;
    const rows = [...body.rows];
    rows.sort((a, b) => {
      const [x, y] = [key(a), key(b)];
      if (x === "" || y === "") return (x === "") - (y === "");
      const [p, q] = [Number(x), Number(y)];
      const order = Number.isNaN(p) || Number.isNaN(q) ? x.localeCompare(y, "en") : p - q;
      return direction === "ascending" ? order : -order;
    });
    body.append(...rows);
    for (const [place, head] of heads.entries()) {
      if (place === at) head.setAttribute("aria-sort", direction);
      else head.removeAttribute("aria-sort");
    }
  };
  for (const [at, head] of heads.entries()) {
    const button = make("button", { type: "button", class: "sort" }, head.textContent);
    // What is better comes first, then the other way round.
    const first = "less" in head.dataset ? "ascending" : "descending";
    const second = first === "ascending" ? "descending" : "ascending";
    button.addEventListener("click", () => sort(at, head.getAttribute("aria-sort") === first ? second : first));
    head.replaceChildren(button);
  }
}
