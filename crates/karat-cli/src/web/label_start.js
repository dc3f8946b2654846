// Who labelled here last is probably labelling again.
const named = document.getElementById("name");
if (named) {
  try {
    named.value ||= localStorage.getItem("karat-annotator") ?? "";
  } catch {
    // A browser that keeps nothing asks every time.
  }
  document.getElementById("start").addEventListener("submit", () => {
    try {
      localStorage.setItem("karat-annotator", named.value.trim());
    } catch {
      // As above.
    }
  });
  (named.value ? document.getElementById("go") : named).focus();
}
