// Paper cannot be unfolded.
const closed = [];
addEventListener("beforeprint", () => {
  closed.push(...document.querySelectorAll("details:not([open])"));
  for (const one of closed) one.open = true;
});
addEventListener("afterprint", () => {
  for (const one of closed.splice(0)) one.open = false;
});
