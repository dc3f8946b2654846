// Restore the name of the last annotator.
const named = document.getElementById("name");
if (named) {
  try {
    named.value ||= localStorage.getItem("karat-annotator") ?? "";
  } catch {
    // Without local storage, the name is asked for every time.
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
