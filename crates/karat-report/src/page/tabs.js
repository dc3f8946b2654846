// One tab of the page at a time, chosen by the address. Without scripts and on paper all are shown.
const tabs = (() => {
  const panels = [...document.querySelectorAll(".panel")];
  const links = [...document.querySelectorAll(".top .tabs nav:first-child a")].filter((link) => link.getAttribute("href").startsWith("#"));
  const panelOf = (id) => document.getElementById(id)?.closest(".panel") ?? null;
  const own = (link) => panelOf(link.hash.slice(1)) ?? panels[0];
  let shown = null;
  // Shows a panel; says whether another one was shown before.
  const open = (panel) => {
    if (!panel || panel === shown) return false;
    shown = panel;
    for (const one of panels) one.classList.toggle("closed", one !== panel);
    for (const link of links) {
      if (own(link) === panel) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    return true;
  };
  // Shows the panel with an element; an address that is no place in a tab leaves what is shown.
  const show = (id) => open(panelOf(id) ?? (links.some((link) => link.hash === `#${id}`) ? panels[0] : null));
  const follow = () => {
    const id = location.hash.slice(1);
    if (id.startsWith("/")) return;
    if (id === "") open(panels[0]);
    else if (show(id) || panelOf(id)) {
      if (links.some((link) => link.hash === location.hash)) scrollTo(0, 0);
      else document.getElementById(id).scrollIntoView();
    }
  };
  if (panels.length > 0) {
    addEventListener("hashchange", follow);
    // A click on the tab that the address already names is no change of the address.
    for (const link of links) link.addEventListener("click", () => location.hash === link.hash && follow());
    open(panels[0]);
    follow();
  }
  return { show };
})();

// A menu closes when something else is clicked, or with Escape.
for (const menu of document.querySelectorAll("details.switcher, details.chip")) {
  document.addEventListener("click", (event) => {
    if (!menu.contains(event.target)) menu.open = false;
  });
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    event.stopPropagation();
    menu.open = false;
    menu.querySelector("summary").focus();
  });
}

// The key / leads to the search field that is shown.
document.addEventListener("keydown", (event) => {
  const isTyping = event.target.closest?.("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]");
  if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  const field = [...document.querySelectorAll("input[type=search]")].find((one) => one.checkVisibility());
  if (!field) return;
  event.preventDefault();
  field.focus();
  field.select();
});
