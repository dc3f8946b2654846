// Light, dark, or what the system says. A page from disk may not be allowed to remember it, which is no fault.
const theme = (() => {
  const root = document.documentElement;
  const order = ["system", "light", "dark"];
  const kept = () => {
    try {
      return localStorage.getItem("karat-theme") ?? "system";
    } catch {
      return "system";
    }
  };
  const show = (name) => {
    if (name === "system") delete root.dataset.theme;
    else root.dataset.theme = name;
    for (const button of document.querySelectorAll("button.theme")) {
      const word = document.createElement("span");
      word.textContent = ` ${name}`;
      button.replaceChildren("◐", word);
      button.setAttribute("aria-label", `Theme: ${name}`);
    }
  };
  let now = order.includes(kept()) ? kept() : "system";
  show(now);
  for (const button of document.querySelectorAll("button.theme")) {
    button.hidden = false;
    button.addEventListener("click", () => {
      now = order[(order.indexOf(now) + 1) % order.length];
      try {
        localStorage.setItem("karat-theme", now);
      } catch {
        // Not remembered.
      }
      show(now);
    });
  }
  return { show };
})();
