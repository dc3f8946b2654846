// The box in the navigation: headings as one types, and a way to the page that searches all text.
const find = (() => {
  const box = document.querySelector("#find");
  const list = document.querySelector("#hits");
  document.querySelector(".find").hidden = false;
  let at = 0;

  const everything = () => `search.html#q=${encodeURIComponent(box.value.trim())}`;

  const row = (href, first, second) => {
    const item = document.createElement("li");
    const link = document.createElement("a");
    const name = document.createElement("span");
    item.setAttribute("role", "option");
    link.href = href;
    link.tabIndex = -1;
    name.textContent = second;
    name.className = "dim";
    link.append(first, " ", name);
    item.append(link);
    return item;
  };

  const point = (to) => {
    const items = [...list.children];
    at = Math.max(0, Math.min(to, items.length - 1));
    for (const [place, item] of items.entries()) item.setAttribute("aria-selected", String(place === at));
    if (items[at]) items[at].scrollIntoView({ block: "nearest" });
  };

  const close = () => {
    list.hidden = true;
    box.setAttribute("aria-expanded", "false");
  };

  const show = () => {
    list.replaceChildren();
    if (box.value.trim() === "") return close();
    for (const [page, heading, href] of rank(box.value, 8)) list.append(row(href, heading, heading === page ? "" : page));
    list.append(row(everything(), "Search all text", `for “${box.value.trim()}”`));
    list.hidden = false;
    box.setAttribute("aria-expanded", "true");
    point(0);
  };

  box.addEventListener("input", show);
  box.addEventListener("focus", show);
  box.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      point(at + (event.key === "ArrowDown" ? 1 : -1));
    } else if (event.key === "Enter") {
      const link = list.children[at]?.querySelector("a");
      if (link && !list.hidden) {
        close();
        link.click();
      }
    } else if (event.key === "Escape") {
      box.value = "";
      close();
      box.blur();
    }
  });
  document.addEventListener("click", (event) => {
    if (!event.target.closest(".find") || event.target.closest("#hits a")) close();
  });
  return { box, close };
})();
