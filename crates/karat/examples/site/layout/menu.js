// On a narrow screen the list of pages is folded away, and so is what is on the page; on a wide one both are open.
{
  const button = document.querySelector("button.menu");
  const narrow = matchMedia("(max-width: 60rem)");
  const roomy = matchMedia("(min-width: 82rem)");
  const contents = document.querySelector("details.contents");
  document.documentElement.classList.add("folds");
  button.hidden = false;
  const open = (yes) => {
    document.documentElement.classList.toggle("menu-open", yes);
    button.setAttribute("aria-expanded", String(yes));
    // The list stands above the page, which may be scrolled.
    if (yes) scrollTo(0, 0);
  };
  button.addEventListener("click", () => open(button.getAttribute("aria-expanded") !== "true"));
  narrow.addEventListener("change", () => open(false));
  const fit = () => {
    if (contents) contents.open = roomy.matches;
  };
  roomy.addEventListener("change", fit);
  fit();
  // Where a long list of pages is, the current one is to be seen.
  const here = document.querySelector("#pages [aria-current]");
  const side = document.querySelector("#pages");
  if (here && !narrow.matches && here.offsetTop > side.clientHeight - 80) side.scrollTop = here.offsetTop - side.clientHeight / 2;

  // The heading that is being read is marked in the list.
  if (contents) {
    const links = new Map([...contents.querySelectorAll("a")].map((link) => [link.hash.slice(1), link]));
    const mark = () => {
      let now = null;
      for (const [id, link] of links) {
        link.removeAttribute("aria-current");
        const heading = document.getElementById(id);
        if (heading && heading.getBoundingClientRect().top < 120) now = link;
      }
      if (now) now.setAttribute("aria-current", "true");
    };
    let waiting = false;
    addEventListener("scroll", () => {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => {
        waiting = false;
        mark();
      });
    }, { passive: true });
    mark();
  }
}
