// The address says what is shown: #/case/ID?tool=…, #/cases?…, or a place on the page.

const overview = document.getElementById("overview");
const title = document.title;
// Where the overview was scrolled to, and its address, when a case was opened.
let left = 0;
let from = null;
const missing = make("p", { id: "missing", class: "careful", role: "alert", hidden: true });
overview.prepend(missing);

let asked = 0;
const route = async (event) => {
  asked += 1;
  const own = asked;
  const [path, query] = location.hash.slice(1).split("?");
  const [, kind, id] = path.split("/");
  const at = kind === "case" && id !== undefined ? placeOf.get(decoded(id)) : undefined;
  if (at !== undefined) {
    if (!overview.hidden) {
      left = scrollY;
      from = event ? new URL(event.oldURL).hash : null;
    }
    tabs.show("cases");
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
  missing.hidden = kind !== "case";
  if (kind === "case") {
    tabs.show("cases");
    const name = decoded(id ?? "");
    missing.textContent = plain(name === "" ? "The address names no case." : `There is no case ${name} in this report.`);
    grid?.redraw();
    scrollTo(0, 0);
  } else if (kind === "cases" && grid) {
    tabs.show("cases");
    if (query !== undefined || !returns) grid.recall(new URLSearchParams(query ?? ""));
    else grid.remember();
    grid.redraw();
    scrollTo(0, returns ? left : 0);
    if (returns) caseView.leave(grid.focusOn);
  } else {
    grid?.redraw();
    // Back to where the case was opened, or to another place.
    if (returns && from === location.hash) scrollTo(0, left);
    else if (returns) (document.getElementById(path) ?? overview).scrollIntoView();
  }
};
const decoded = (text) => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

// What is skipped to is no other view.
document.querySelector(".skip")?.addEventListener("click", (event) => {
  event.preventDefault();
  const main = document.getElementById("main");
  main.tabIndex = -1;
  main.focus();
});

addEventListener("hashchange", route);
await route();
document.documentElement.dataset.ready = "true";
