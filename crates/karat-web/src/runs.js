// Says how many runs are ticked; only two can be compared.
const choose = document.getElementById("choose");
const compare = choose?.querySelector(".compare-bar button");
if (compare) {
  const count = () => {
    const ticked = choose.querySelectorAll("input:checked").length;
    compare.disabled = ticked !== 2;
    const words = ["Tick two runs to compare them.", "Tick one more run.", "The later run is compared with the earlier one."];
    document.getElementById("chosen").textContent = words[ticked] ?? `${ticked} runs are ticked; only two can be compared.`;
  };
  choose.addEventListener("change", count);
  // A browser may restore ticks after this script has run.
  addEventListener("pageshow", count);
  count();
}
