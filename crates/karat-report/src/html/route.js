// The address says what is shown: #/case/ID?tool=…, #/cases?…, or a place on the page.

const overview = document.getElementById("overview");
const title = document.title;
let left = 0;

let asked = 0;
const route = async () => {
  asked += 1;
  const own = asked;
  const [path, query] = location.hash.slice(1).split("?");
  const [, kind, id] = path.split("/");
  const at = kind === "case" && id !== undefined ? placeOf.get(decoded(id)) : undefined;
  if (at !== undefined) {
    if (!overview.hidden) left = scrollY;
    await caseView.open(at, new URLSearchParams(query ?? ""), () => own === asked);
    // Somebody may have gone on while the case was unpacked.
    if (own !== asked) return;
    const was = overview.hidden;
    overview.hidden = true;
    caseView.place.hidden = false;
    if (!was) scrollTo(0, 0);
    // What is hidden cannot be scrolled to, so what is open is looked for once more.
    if (!was) caseView.look();
    if (!new URLSearchParams(query ?? "").get("item")) caseView.place.querySelector("h1")?.focus({ preventScroll: true });
    return;
  }
  const returns = overview.hidden;
  overview.hidden = false;
  caseView.place.hidden = true;
  document.title = title;
  if (kind === "cases" && grid) {
    if (query !== undefined || !returns) grid.recall(new URLSearchParams(query ?? ""));
    else grid.remember();
    grid.redraw();
    if (returns) scrollTo(0, left);
    else document.getElementById("cases")?.scrollIntoView();
    if (returns) caseView.leave(grid.focusOn);
  } else if (returns) {
    grid?.redraw();
    scrollTo(0, left);
  }
  if (kind === "case") {
    document.getElementById("grid-status")?.append(` · there is no case ${plain(decoded(id ?? ""))}`);
    document.getElementById("cases")?.scrollIntoView();
  }
};
const decoded = (text) => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

// A way to each section, for those that are there.
const toc = document.querySelector(".toc");
if (toc) {
  for (const section of overview.querySelectorAll("section[id]")) {
    const name = section.querySelector("h2")?.textContent;
    if (name && section.id !== "careful") toc.append(make("a", { href: `#${section.id}` }, name), " ");
  }
}

// What is skipped to is no other view.
document.querySelector(".skip")?.addEventListener("click", (event) => {
  event.preventDefault();
  const main = document.getElementById("main");
  main.tabIndex = -1;
  main.focus();
});

// Paper cannot be unfolded.
const closed = [];
addEventListener("beforeprint", () => {
  closed.push(...document.querySelectorAll("details:not([open])"));
  for (const one of closed) one.open = true;
});
addEventListener("afterprint", () => {
  for (const one of closed.splice(0)) one.open = false;
});

addEventListener("hashchange", route);
await route();
document.documentElement.dataset.ready = "true";
