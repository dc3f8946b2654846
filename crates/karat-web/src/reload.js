// Loads the page again when its content on the server has changed. If somebody is using the page, it offers that instead, so that
// nothing typed, ticked or opened is lost.
{
  const notice = document.getElementById("reload");
  let used = false;
  for (const kind of ["pointerdown", "keydown", "input"]) {
    addEventListener(kind, () => (used = true), { capture: true, passive: true });
  }
  // A browser may restore what was typed before.
  const isTyped = (field) => field.value !== field.defaultValue || field.checked !== field.defaultChecked;
  const inUse = () => used || [...document.querySelectorAll("input, textarea")].some(isTyped);
  let pause = 3000;
  let waiting;
  const look = async () => {
    clearTimeout(waiting);
    if (document.hidden || !notice.hidden) return;
    try {
      const stamp = (await fetch(location.href, { method: "HEAD" })).headers.get("etag");
      pause = 3000;
      if (stamp && stamp !== notice.dataset.stamp) {
        if (!inUse()) return location.reload();
        notice.hidden = false;
        return;
      }
    } catch {
      // The server is unreachable.
      pause = Math.min(pause * 2, 60000);
    }
    waiting = setTimeout(look, pause);
  };
  notice.querySelector("button").addEventListener("click", () => location.reload());
  document.addEventListener("visibilitychange", look);
  waiting = setTimeout(look, pause);
}
