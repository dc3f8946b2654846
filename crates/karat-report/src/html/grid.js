// Cases down, tools across. Only the rows in view are in the document, so that thousands of them scroll smoothly.

const grid = (() => {
  const place = document.getElementById("grid");
  if (!place) return null;

  // Nothing is known of a case whose trials all met an outage.
  const untried = (c) => c.value === null && c.unavailable > 0 && c.tp + c.fp + c.missed + c.failed === 0;
  const outcomes = [
    ["all", "all", () => true],
    ["missed", "misses", (c) => c.missed > 0],
    ["false", "false alarms", (c) => c.fp > 0],
    ["failed", "failed trials", (c) => c.failed > 0],
    ["unavailable", "unavailable trials", (c) => c.unavailable > 0],
    ["flaky", "found in some trials only", (c) => c.flaky],
    ["lucky", "called vulnerable without the target", (c) => c.lucky],
    ["clean", "without errors", (c) => c.missed === 0 && c.fp === 0 && c.failed === 0 && !untried(c)],
  ];
  const worth = (c) => {
    if (c.value !== null) return index.down ? -c.value : c.value;
    return c.fp > 0 ? -c.fp / 1000 : 1;
  };
  // How well each of the tools did, of those that could be tried.
  const worths = (at, tools) => tools.map((tool) => cell(tool, at)).filter((c) => !untried(c)).map(worth);
  const mean = (at, tools) => {
    const values = worths(at, tools);
    return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
  };
  const spread = (at, tools) => {
    const values = worths(at, tools);
    return values.length === 0 ? null : Math.max(...values) - Math.min(...values);
  };
  // A case that no tool could be tried on is neither hard nor easy: it comes last in either order.
  const by = (measure, direction) => (tools) => (a, b) => {
    const [x, y] = [measure(a, tools), measure(b, tools)];
    return x === null || y === null ? (x === null) - (y === null) : direction * (x - y);
  };
  const everyTool = index.tools.map((_, at) => at);
  // Tools disagree where some are mostly right and others mostly wrong.
  const right = (c) => (c.value === null ? c.fp === 0 && c.failed === 0 : (index.down ? 1 - c.value : c.value) >= 0.5);
  const disagree = (at) => new Set(everyTool.map((tool) => cell(tool, at)).filter((c) => !untried(c)).map(right)).size > 1;
  const orders = [
    ["suite", "as in the suite", null],
    ["hard", "hardest first", by(mean, 1)],
    ["easy", "easiest first", by(mean, -1)],
    ["apart", "where tools differ most", by(spread, -1)],
    ["name", "by name", () => (a, b) => (index.ids[a] < index.ids[b] ? -1 : 1)],
  ];

  const fresh = { words: "", tool: "", outcome: "all", by: "", value: "", disagree: "", order: "suite" };
  const state = { ...fresh };
  let rows = [];

  const option = (value, label) => make("option", { value }, label);
  const select = (name, label, options) =>
    make("label", {}, make("span", {}, label), make("select", { name, change: changed }, options.map(([value, text]) => option(value, text))));
  const values = (dimension) => {
    const counted = new Map();
    for (const of of index.by[dimension] ?? []) for (const value of of) counted.set(value, (counted.get(value) ?? 0) + 1);
    return [...counted].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  };
  const dimensions = Object.keys(index.by);
  // One click each, with how many cases it leaves of all.
  const choices = make("fieldset", { class: "choices", "aria-label": "Show" }, outcomes.map(([id, label]) =>
    make("label", {}, make("input", { type: "radio", name: "outcome", value: id, change: changed }), make("span", {}, label), " ", make("small", {}))));
  let counted = null;
  function count(tools) {
    if (counted === state.tool) return;
    counted = state.tool;
    const counts = outcomes.map(() => 0);
    index.ids.forEach((_, at) => {
      const cells = tools.map((tool) => cell(tool, at));
      outcomes.forEach(([id, , test], place) => (counts[place] += id === "clean" ? cells.every(test) : cells.some(test)));
    });
    counts.forEach((n, place) => {
      choices.children[place].hidden = n === 0;
      choices.children[place].lastChild.textContent = n.toLocaleString("en");
    });
  }
  const bar = make("form", { class: "filters", role: "search", "aria-label": "Filter cases", submit: (event) => event.preventDefault() },
    make("label", {}, make("span", {}, "Search"), make("input", { type: "search", name: "words", placeholder: "case or golden", title: "/", input: changed, autocomplete: "off" })),
    select("tool", "Tool", [["", "any tool"], ...index.tools.map((tool, at) => [String(at), tool])]),
    dimensions.length > 0 && select("by", "Filter by", [["", "–"], ...dimensions.map((name) => [name, name])]),
    dimensions.length > 0 && select("value", "with", [["", "any value"]]),
    select("order", "Order", orders.map(([id, label]) => [id, label])),
    index.tools.length > 1 && make("label", { class: "check", title: "some tools are mostly right, others mostly wrong" },
      make("input", { type: "checkbox", name: "disagree", value: "1", change: changed }), make("span", {}, "only where tools disagree")),
    make("button", { type: "button", class: "quiet", click: reset }, "Reset"),
    choices,
  );
  const status = make("p", { class: "dim", role: "status", id: "grid-status" });
  const head = make("div", { role: "row", class: "row head", "aria-rowindex": 1 },
    make("div", { role: "columnheader", class: "first" }, "case"),
    index.tools.map((tool) => make("div", { role: "columnheader", title: `${tool}, and the mean of the cases shown` }, make("span", { class: "name" }, tool), " ", make("span", { class: "mean" }))));
  const space = make("div", { class: "space", role: "rowgroup" });
  const box = make("div", { class: "box", role: "grid", "aria-label": "Cases and tools", "aria-describedby": "grid-status", "aria-colcount": index.tools.length + 1, tabindex: 0 },
    make("div", { role: "rowgroup", class: "heads" }, head), space);
  const paper = make("p", { class: "dim on-paper" });
  place.append(bar, status, paper, box);
  let columns = 0;
  function widen(to) {
    columns = to;
    box.style.setProperty("--tools", to);
    [...head.children].forEach((cell, at) => (cell.hidden = at > to));
  }
  widen(index.tools.length);
  const longest = index.ids.reduce((most, id) => Math.max(most, id.length), 12);
  box.style.setProperty("--first", `min(${Math.min(longest + 3, 44) * 0.56}rem, 48vw)`);

  const height = () => parseFloat(getComputedStyle(box).getPropertyValue("--row")) * parseFloat(getComputedStyle(document.documentElement).fontSize);

  function reset() {
    Object.assign(state, fresh);
    show();
    remember();
  }

  function changed(event) {
    const { name, value, type, checked } = event.target;
    state[name] = type === "checkbox" && !checked ? "" : value;
    if (name === "by") state.value = "";
    show();
    remember();
  }

  // The filters stand in the address, so that a view can be sent around.
  function remember() {
    const query = new URLSearchParams(Object.entries(state).filter(([name, value]) => value !== fresh[name]));
    if (state.tool !== "") query.set("tool", index.tools[Number(state.tool)]);
    const text = query.toString();
    history.replaceState(history.state, "", text ? `#/cases?${text}` : "#/cases");
  }

  function recall(query) {
    state.words = query.get("words") ?? "";
    state.tool = String(toolOf.get(query.get("tool")) ?? "");
    state.outcome = outcomes.some(([id]) => id === query.get("outcome")) ? query.get("outcome") : "all";
    state.by = dimensions.includes(query.get("by")) ? query.get("by") : "";
    state.value = query.get("value") ?? "";
    state.disagree = query.get("disagree") === "1" ? "1" : "";
    state.order = orders.some(([id]) => id === query.get("order")) ? query.get("order") : "suite";
    show();
  }

  // The cases that fit, in order.
  function chosen() {
    const words = state.words.toLowerCase().split(/\s+/).filter(Boolean);
    const tools = state.tool === "" ? everyTool : [Number(state.tool)];
    const test = outcomes.find(([id]) => id === state.outcome)[2];
    const fits = (at) => {
      if (state.by !== "" && state.value !== "" && !index.by[state.by][at].includes(state.value)) return false;
      if (state.disagree !== "" && !disagree(at)) return false;
      if (words.length > 0) {
        const text = `${index.ids[at]} ${index.names[at] ?? ""} ${index.goldens[at].join(" ")}`.toLowerCase();
        if (!words.every((word) => text.includes(word))) return false;
      }
      const all = state.outcome === "clean";
      return all ? tools.every((tool) => test(cell(tool, at))) : state.outcome === "all" || tools.some((tool) => test(cell(tool, at)));
    };
    count(tools);
    const found = index.ids.map((_, at) => at).filter(fits);
    const order = orders.find(([id]) => id === state.order)[2];
    return order ? found.sort((a, b) => order(tools)(a, b) || a - b) : found;
  }

  function show() {
    for (const name of ["words", "tool", "outcome", "by", "order"]) {
      const field = bar.elements[name];
      if (field && field.value !== state[name]) field.value = state[name];
    }
    if (bar.elements.disagree) bar.elements.disagree.checked = state.disagree !== "";
    if (bar.elements.value) {
      const field = bar.elements.value;
      field.replaceChildren(option("", "any value"), ...(state.by ? values(state.by).map(([value, n]) => option(value, `${value} (${n})`)) : []));
      field.value = state.value;
      field.disabled = state.by === "";
    }
    rows = chosen();
    status.textContent = rows.length === index.ids.length ? many(rows.length, "case") : `${many(rows.length, "case").replace(/ cases?$/, "")} of ${many(index.ids.length, "case")}`;
    box.setAttribute("aria-rowcount", rows.length + 1);
    index.tools.forEach((_, tool) => {
      const values = rows.map((at) => index.cells[tool].value[at]).filter((value) => value !== null);
      const mean = values.reduce((sum, value) => sum + value, 0) / values.length / 1000;
      head.children[tool + 1].lastChild.textContent = values.length === 0 ? "" : mean.toFixed(2);
    });
    space.style.height = `${rows.length * height()}px`;
    box.scrollTop = 0;
    drawn = "";
    draw();
  }

  const shade = (c) => {
    if (untried(c)) return "";
    // The more false alarms, the stronger.
    if (c.value === null && c.fp > 0) return `f${c.fp === 1 ? 1 : c.fp < 4 ? 2 : c.fp < 10 ? 3 : 4}`;
    if (c.value === null) return c.failed > 0 ? "v0" : "v4";
    const good = index.down ? 1 - c.value : c.value;
    return `v${Math.max(0, Math.min(4, Math.floor(good * 5)))}`;
  };
  const says = (c) => {
    if (untried(c)) return ["unavailable", "", ""];
    const main = c.value === null ? (c.fp > 0 ? `${c.fp} false` : c.failed > 0 ? "failed" : "clean") : c.value.toFixed(2);
    const of = c.tp + c.missed;
    return [main, c.value !== null && of > 0 ? `${c.tp}/${of}` : "", c.failed > 0 ? "!" : ""];
  };

  // Where there is no room for a name, its middle is left out: twins differ at an end.
  const ruler = document.createElement("canvas").getContext("2d");
  const fitted = (id, room) => {
    const wide = ruler.measureText(plain(id)).width;
    if (wide <= room) return id;
    const letters = [...id];
    const kept = Math.max(6, Math.floor((letters.length * room) / wide) - 2);
    return `${letters.slice(0, Math.ceil(kept / 2)).join("")}…${letters.slice(-Math.floor(kept / 2)).join("")}`;
  };

  let drawn = "";
  let focus = [0, 0];
  function draw(everything = false) {
    const [one, top, seen] = [height(), box.scrollTop, box.clientHeight || 600];
    const from = everything ? 0 : Math.max(0, Math.floor(top / one) - 8);
    const to = everything ? Math.min(rows.length, 500) : Math.min(rows.length, Math.ceil((top + seen) / one) + 8);
    const key = `${from}-${to}`;
    if (key === drawn) return;
    drawn = key;
    const lines = [];
    const { fontSize, fontFamily } = getComputedStyle(box);
    ruler.font = `${fontSize} ${fontFamily}`;
    const room = everything ? Infinity : head.firstChild.clientWidth - 16;
    for (let place = from; place < to; place += 1) lines.push(row(place, one, room));
    space.replaceChildren(...lines);
  }

  function row(place, one, room) {
    const at = rows[place];
    const id = index.ids[at];
    const short = fitted(id, room);
    const link = (tool) => `#/case/${encodeURIComponent(id)}${tool === undefined ? "" : `?tool=${encodeURIComponent(index.tools[tool])}`}`;
    const stop = (r, c) => (r === focus[0] && c === focus[1] ? 0 : -1);
    const line = make("div", { role: "row", class: "row", "aria-rowindex": place + 2 },
      make("div", { role: "rowheader", class: "first" },
        make("a", { href: link(), title: index.names[at] ? `${id}: ${index.names[at]}` : id, tabindex: stop(place, 0), "data-at": `${place},0` },
          short === id ? id : [make("span", { "aria-hidden": "true" }, short), make("span", { class: "unseen" }, id)])),
      index.tools.slice(0, columns).map((name, tool) => {
        const c = cell(tool, at);
        const [main, of, mark] = says(c);
        const long = `${[main, of].filter(Boolean).join(" ")} ${name}${of ? `: ${of} found` : ""}${c.fp > 0 ? `, ${c.fp} false` : ""}${c.failed > 0 ? `, ${many(c.failed, "trial")} failed` : ""}${c.unavailable > 0 ? `, ${many(c.unavailable, "trial")} unavailable` : ""}`;
        return make("div", { role: "gridcell", class: shade(c) },
          make("a", { href: link(tool), title: long, "aria-label": long, tabindex: stop(place, tool + 1), "data-at": `${place},${tool + 1}` },
            main, of && [" ", make("small", {}, of)], mark && make("b", { class: "warn" }, mark)));
      }));
    line.style.transform = `translateY(${place * one}px)`;
    return line;
  }

  // Arrow keys go from cell to cell, also to those that are not drawn yet.
  box.addEventListener("keydown", (event) => {
    const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], PageUp: [-20, 0], PageDown: [20, 0], Home: [-1e9, 0], End: [1e9, 0] };
    const move = moves[event.key];
    if (!move || rows.length === 0) return;
    event.preventDefault();
    const on = event.target.dataset?.at?.split(",").map(Number);
    const [r, c] = on ?? [-1, focus[1]];
    focus = [Math.max(0, Math.min(rows.length - 1, r + move[0])), Math.max(0, Math.min(index.tools.length, c + move[1]))];
    const one = height();
    const [top, bottom] = [focus[0] * one, (focus[0] + 2) * one];
    if (top < box.scrollTop) box.scrollTop = top;
    if (bottom > box.scrollTop + box.clientHeight) box.scrollTop = bottom - box.clientHeight;
    drawn = "";
    draw();
    space.querySelector(`[data-at="${focus.join(",")}"]`)?.focus({ preventScroll: false });
  });
  box.addEventListener("scroll", () => requestAnimationFrame(() => draw()), { passive: true });
  addEventListener("resize", () => {
    drawn = "";
    draw();
  });
  // On paper the first rows and tools stand where the others would be scrolled to.
  addEventListener("beforeprint", () => {
    widen(Math.min(index.tools.length, 8));
    const cut = [[columns, index.tools.length, "tool"], [Math.min(rows.length, 500), rows.length, "case"]].filter(([some, all]) => some < all);
    paper.textContent = cut.length === 0 ? "" : `Printed: ${cut.map(([some, all, noun]) => `the first ${some} of ${many(all, noun)}`).join(", ")}. The page shows all.`;
    space.style.height = `${Math.min(rows.length, 500) * height()}px`;
    drawn = "";
    draw(true);
  });
  addEventListener("afterprint", () => {
    widen(index.tools.length);
    drawn = "";
    space.style.height = `${rows.length * height()}px`;
    draw();
  });
  show();
  // Back from a case, one is where one left.
  const focusOn = (at, tool) => {
    const place = rows.indexOf(at);
    if (place < 0) return;
    focus = [place, tool + 1];
    const one = height();
    if (place * one < box.scrollTop || (place + 2) * one > box.scrollTop + box.clientHeight) box.scrollTop = Math.max(0, (place - 3) * one);
    drawn = "";
    draw();
    space.querySelector(`[data-at="${focus.join(",")}"]`)?.focus({ preventScroll: true });
  };
  return { recall, remember, focusOn, rows: () => rows, tool: () => (state.tool === "" ? null : Number(state.tool)), redraw: () => { drawn = ""; draw(); } };
})();
