// Filters requirements in the map and in the list, and opens what a link points to.

const form = document.getElementById("filters");
const status = document.getElementById("filter-status");
const listed = [...document.querySelectorAll("details.requirement")];

const filter = () => {
  const wanted = new FormData(form);
  const requirement = wanted.get("requirement") ?? "";
  const verdict = wanted.get("verdict") ?? "";
  const wrong = wanted.get("wrong") !== null;
  const answers = (element) =>
    (verdict === "" || (element.dataset.verdicts ?? "").split(" ").includes(verdict)) && (!wrong || element.dataset.wrong === "true");
  const named = (element) => requirement === "" || element.dataset.requirement === requirement;
  for (const one of listed) one.hidden = !(named(one) && answers(one));
  const filtered = requirement !== "" || verdict !== "" || wrong;
  for (const bundle of document.querySelectorAll(".bundle")) {
    bundle.hidden = !bundle.querySelector("details.requirement:not([hidden])");
    if (filtered) bundle.open = true;
  }
  for (const row of document.querySelectorAll("table.map tbody tr")) {
    const cells = [...row.querySelectorAll("td[data-wrong]")];
    for (const cell of cells) cell.classList.toggle("faded", !answers(cell));
    row.hidden = !(named(row) && cells.some(answers));
  }
  const left = listed.filter((one) => !one.hidden).length;
  const all = `${listed.length} ${listed.length === 1 ? "requirement" : "requirements"}`;
  status.textContent = left === listed.length ? all : `${left} of ${all}`;
};

if (form) {
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("change", filter);
  // The fields have their first values only after the event.
  form.addEventListener("reset", () => setTimeout(filter));
  filter();
}

// A place on the page, or #/case/NAME from a comparison.
const decoded = (text) => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};
const open = () => {
  const [path] = location.hash.slice(1).split("?");
  const name = path.startsWith("/case/") ? decoded(path.slice("/case/".length)) : undefined;
  const found = name === undefined ? document.getElementById(path) : listed.find((one) => one.dataset.case === name);
  if (!(found instanceof HTMLDetailsElement)) {
    if (name !== undefined) status.textContent += ` · there is no requirement ${name}`;
    return;
  }
  tabs.show(found.id);
  if (found.hidden) form?.reset();
  for (const around of [found, found.closest(".bundle")].filter(Boolean)) {
    around.hidden = false;
    around.open = true;
  }
  found.scrollIntoView();
  found.querySelector("summary")?.focus({ preventScroll: true });
};
addEventListener("hashchange", open);
open();
document.documentElement.dataset.ready = "true";
