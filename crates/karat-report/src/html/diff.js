// The code of a case: its change as a diff, or the code alone where there is nothing to compare it with. Goldens and findings
// have markers on their lines.

const codeView = (() => {
  // Rows in the document at once; others are drawn when they come near the window.
  const CHUNK = 120;
  // Longer files without a change are folded.
  const SHORT = 300;
  // Lines of a place that are unfolded: a finding may claim a whole file.
  const LONGEST_PLACE = 60;
  const wide = matchMedia("(min-width: 75rem)");
  const stored = () => {
    try {
      return localStorage.getItem("karat-diff");
    } catch {
      return null;
    }
  };
  let layout = stored() === "split" ? "split" : "unified";
  let place = null;
  let shown = null;
  // The items that are marked, and the first rows of all items.
  const marked = new Set();
  const chunkOf = new Map();

  const waiting = new Map();
  const nearby = new IntersectionObserver((seen) => {
    for (const one of seen) if (one.isIntersecting) fill(one.target);
  }, { rootMargin: "1500px" });
  function fill(chunk) {
    const rows = waiting.get(chunk);
    if (!rows) return;
    waiting.delete(chunk);
    nearby.unobserve(chunk);
    chunk.replaceChildren(...rows());
  }
  addEventListener("beforeprint", () => [...waiting.keys()].forEach(fill));

  const isDiff = (file) => (file.change?.hunks.length ?? 0) > 0;
  const hasSides = (file) => isDiff(file) && ["changed", "renamed"].includes(file.change.kind);
  const isSplit = (file) => layout === "split" && wide.matches && hasSides(file);
  // Goldens and findings of a removed file are on its lines before the change.
  const numberOf = (file, row) => (file.change?.kind === "removed" ? row.before : row.after);
  const firstOf = (item) => item.info.line_start;
  const lastOf = (item) => item.info.line_end ?? item.info.line_start;

  // Kept, added and removed lines from top to bottom, and gaps of lines that are not in the page.
  function rowsOf(file) {
    const [now, old] = [file.lines, file.change?.old ?? []].map((lines) => new Map(lines.map((line) => [line[0], line])));
    const rows = [];
    const push = (kind, before, after, line) => {
      if (line) rows.push({ kind, before, after, text: line[1], colours: line[2] });
      else if (rows.at(-1)?.kind === "gap") rows.at(-1).count += 1;
      else rows.push({ kind: "gap", count: 1 });
    };
    let [before, after] = [1, 1];
    const keep = (until) => {
      for (; after < until; before += 1, after += 1) push("kept", before, after, now.get(after));
    };
    for (const [, removed, first, added] of file.change?.hunks ?? []) {
      keep(first);
      for (let n = 0; n < removed; n += 1) push("removed", before + n, null, old.get(before + n));
      for (let n = 0; n < added; n += 1) push("added", null, after + n, now.get(after + n));
      if (removed === added) compareWords(rows.slice(-removed - added), removed);
      before += removed;
      after += added;
    }
    if (file.change?.kind !== "removed") keep(file.length + 1);
    return rows;
  }

  // Of lines that replace each other one by one, what differs between their common beginning and end.
  function compareWords(rows, removed) {
    if (rows.length !== 2 * removed || rows.some((row, n) => row.kind !== (n < removed ? "removed" : "added"))) return;
    for (let n = 0; n < removed; n += 1) {
      const [a, b] = [rows[n].text, rows[n + removed].text];
      const shorter = Math.min(a.length, b.length);
      let [start, end] = [0, 0];
      while (start < shorter && a[start] === b[start]) start += 1;
      while (end < shorter - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
      if (start > 0 && (isLow(a, start) || isLow(b, start))) start -= 1;
      if (isLow(a, a.length - end) || isLow(b, b.length - end)) end -= 1;
      // Lines with little in common are other lines.
      if ((a.slice(0, start) + a.slice(a.length - end)).trim().length * 3 < shorter) continue;
      rows[n].word = [start, a.length - end];
      rows[n + removed].word = [start, b.length - end];
    }
  }
  const isLow = (text, at) => text.charCodeAt(at) >= 0xdc00 && text.charCodeAt(at) <= 0xdfff;

  // Stretches that are shown, and between them those that are folded: far from changes, goldens and findings.
  function stretches(file, rows, here) {
    if (!isDiff(file) && rows.length <= SHORT) return [{ rows }];
    const at = new Map(rows.map((row, index) => [numberOf(file, row), index]));
    const wanted = rows.map((row) => row.kind === "added" || row.kind === "removed");
    for (const item of here) {
      for (let line = firstOf(item); line <= Math.min(lastOf(item), firstOf(item) + LONGEST_PLACE); line += 1) {
        if (at.has(line)) wanted[at.get(line)] = true;
      }
    }
    const around = isDiff(file) ? 3 : 12;
    const isShown = rows.map((row) => row.kind === "gap");
    for (const order of [wanted.keys(), [...wanted.keys()].reverse()]) {
      let left = 0;
      for (const index of order) {
        if (wanted[index]) left = around + 1;
        if (left > 0) isShown[index] = true;
        left -= 1;
      }
    }
    const found = [];
    for (let start = 0; start < rows.length; ) {
      let end = start;
      while (end < rows.length && isShown[end] === isShown[start]) end += 1;
      const part = rows.slice(start, end);
      // A button for three lines is longer than they are.
      const isFolded = !isShown[start] && part.length > 3;
      if (!isFolded && found.at(-1)?.isFolded === false) found.at(-1).rows.push(...part);
      else found.push({ rows: part, isFolded });
      start = end;
    }
    return found;
  }

  // Side by side, what was removed is beside what was added.
  function pairs(rows) {
    const out = [];
    let next = 0;
    for (const row of rows) {
      if (row.kind === "removed") out.push([row, null]);
      else if (row.kind === "added" && next < out.length && out[next][1] === null) {
        out[next][1] = row;
        next += 1;
      } else out.push(row.kind === "added" ? [null, row] : [row, row]);
      // Only the removed lines right before added ones are beside them.
      if (row.kind === "kept" || row.kind === "gap") next = out.length;
    }
    return out;
  }

  function chunks(file, rows, here) {
    const split = isSplit(file);
    const units = split ? pairs(rows) : rows;
    const out = [];
    for (let start = 0; start < units.length; start += CHUNK) {
      const part = units.slice(start, start + CHUNK);
      const chunk = make("div", { class: "chunk" });
      chunk.style.setProperty("--rows", part.length);
      waiting.set(chunk, () => part.map((unit) => (split ? pair(file, unit, here) : line(file, unit, here))));
      nearby.observe(chunk);
      const first = numberOf(file, part.flat().find((row) => row && numberOf(file, row) != null) ?? {});
      const last = numberOf(file, part.flat().findLast((row) => row && numberOf(file, row) != null) ?? {});
      for (const item of here) {
        if (!chunkOf.has(item.key) && first <= lastOf(item) && firstOf(item) <= last) chunkOf.set(item.key, chunk);
      }
      out.push(chunk);
    }
    return out;
  }

  const gap = (row) => make("div", { class: "gap" }, `⋮ ${many(row.count, "line")} not in this page`);
  const sides = { kept: " ", added: "+", removed: "−" };

  function line(file, row, here) {
    if (row.kind === "gap") return gap(row);
    const both = hasSides(file);
    return marker(file, row, here, (signs) => [
      both && make("span", { class: "no old" }, row.before ?? ""),
      make("span", { class: "no" }, numberOf(file, row) ?? ""),
      signs,
      isDiff(file) && make("span", { class: "side" }, sides[row.kind]),
      make("code", {}, painted(row)),
    ]);
  }
  function pair(file, [old, now], here) {
    if (old?.kind === "gap") return gap(old);
    const half = (row, number) => [make("span", { class: "no" }, number), make("span", { class: "side" }, sides[row.kind]), make("code", {}, painted(row))];
    return make("div", { class: "pair" },
      old ? make("div", { class: `line old ${old.kind}`, "data-before": old.before }, half(old, old.before)) : make("div", { class: "line none" }),
      now ? marker(file, now, here, (signs) => half(now, now.after).toSpliced(1, 0, signs)) : make("div", { class: "line none" }));
  }

  // A line with its goldens and findings: a marker on the first line of each, and a bar along the rest.
  function marker(file, row, here, content) {
    const number = numberOf(file, row);
    const on = number == null ? [] : here.filter((item) => firstOf(item) <= number && number <= lastOf(item));
    const signs = on.filter((item) => firstOf(item) === number);
    const tone = on.some((item) => item.state === "trap") ? "is-bad" : on.some((item) => item.state === "match" || item.state === "acceptable") ? "is-good" : "";
    const isMarked = on.some((item) => marked.has(item.key)) ? "on" : "";
    const kinds = [file.change ? row.kind : "", ...new Set(on.map((item) => item.kind)), tone, isMarked].filter(Boolean).join(" ");
    const sign = (item) => make("button", { type: "button", class: `sign ${item.kind} ${item.state}`, title: shown.describe(item), "data-item": item.key,
      mouseenter: () => mark(item.key, true), mouseleave: () => mark(item.key, shown.isCurrent(item)), click: () => shown.pick(item) }, item.sign);
    return make("div", { class: `line ${kinds}`, "data-items": on.map((item) => item.key).join(" ") || undefined, "data-line": number, "data-before": row.kind === "removed" ? row.before : undefined },
      content(make("span", { class: "signs" }, signs.slice(0, 6).map(sign), signs.length > 6 && `+${signs.length - 6}`)));
  }

  function painted({ text, colours, word }) {
    if (plain(text) === "") return ["\u00a0"];
    const out = [];
    const add = (from, to, letter) => {
      if (from >= to) return;
      const isChanged = word && word[0] <= from && to <= word[1];
      const kinds = [letter === "." ? "" : `c-${letter}`, isChanged ? "word" : ""].filter(Boolean).join(" ");
      out.push(kinds ? make("span", { class: kinds }, text.slice(from, to)) : text.slice(from, to));
    };
    const cuts = word ?? [];
    let at = 0;
    for (const [, length, letter] of `${colours}${text.length}.`.matchAll(/(\d+)([a-z.])/g)) {
      const end = Math.min(at + Number(length), text.length);
      for (const cut of [...cuts.filter((cut) => at < cut && cut < end), end]) {
        add(at, cut, letter);
        at = cut;
      }
    }
    return out;
  }

  // What is folded, behind a button that unfolds it.
  function fold(file, rows, here) {
    const count = rows.reduce((sum, row) => sum + (row.count ?? 1), 0);
    const button = make("button", { type: "button", class: "fold", click: () => {
      const unfolded = chunks(file, rows, here);
      button.closest(".lines").focus({ preventScroll: true });
      button.replaceWith(...unfolded);
      fill(unfolded[0]);
    } }, `⋮ Show ${many(count, isDiff(file) ? "unchanged line" : "line")}`);
    return button;
  }

  const kinds = { added: "added", removed: "removed", renamed: "renamed", changed: "", unchanged: "not changed", not_compared: "not text, or too large to compare" };
  function fileView(file) {
    const here = shown.items.filter((item) => shown.liesIn(item, file.path) && firstOf(item) != null);
    const change = file.change;
    const [removed, added] = [1, 3].map((at) => (change?.hunks ?? []).reduce((sum, hunk) => sum + hunk[at], 0));
    const same = change?.kind === "changed" && !isDiff(file) && "line ends changed";
    const about = [change && kinds[change.kind], change?.from && `from ${change.from}`, same].filter(Boolean).join(" ");
    const head = make("h3", {}, file.path, about && make("span", { class: "dim" }, ` ${about}`),
      added > 0 && make("span", { class: "good" }, ` +${added.toLocaleString("en")}`), removed > 0 && make("span", { class: "bad" }, ` −${removed.toLocaleString("en")}`));
    const rows = rowsOf(file);
    if (rows.length === 0) return make("section", { class: "file" }, head);
    const parts = stretches(file, rows, here).flatMap((part) => (part.isFolded ? fold(file, part.rows, here) : chunks(file, part.rows, here)));
    const starts = new Map();
    for (const item of here) starts.set(firstOf(item), (starts.get(firstOf(item)) ?? 0) + 1);
    const widest = Math.max(1, ...[...starts.values()].map((count) => Math.min(count, 7)));
    const lines = make("div", { class: `lines scroll${change ? " diff" : ""}${isSplit(file) ? " split" : ""}`, tabindex: 0, role: "group", "aria-label": `Code of ${file.path}` }, make("div", {}, parts));
    lines.style.setProperty("--digits", String(file.length).length);
    lines.style.setProperty("--signs", widest);
    return make("section", { class: "file" }, head, lines);
  }

  const noFiles = "None of the files that goldens and findings name is available as text: the case has no code, or its code has changed since the trials.";
  const noSuite = "This page was drawn without the suite, so it has no code. `karat report` shows it for a run, or with --suite.";
  // Draws the files of a case with its goldens and findings. `by` says in which file an item lies, how it is described, whether it
  // is the current one, and what happens when its marker is clicked.
  function draw(data, items, by) {
    shown = { data, items, ...by };
    marked.clear();
    place = make("section", { class: "files" });
    redraw();
    return place;
  }
  function redraw() {
    nearby.disconnect();
    waiting.clear();
    chunkOf.clear();
    const { files, more_files: more, code } = shown.data;
    const choice = (name, label) => make("button", { type: "button", "aria-pressed": String(layout === name), click: () => choose(name) }, label);
    place.replaceChildren(...nodes([
      make("div", { class: "code-head" }, make("h2", {}, files.some((file) => file.change) ? "Change" : "Code"),
        files.some(hasSides) && make("div", { class: "layouts", role: "group", "aria-label": "Layout of the change" }, choice("unified", "Unified"), choice("split", "Side by side"))),
      files.length === 0 && make("p", { class: "dim" }, code ? noFiles : noSuite),
      files.map(fileView),
      more > 0 && make("p", { class: "dim" }, `${many(more, "more changed file")} ${more === 1 ? "is" : "are"} not in this page.`),
    ]));
    // What is seen first is there at once.
    let rows = 0;
    for (const chunk of [...waiting.keys()]) {
      rows += Number(chunk.style.getPropertyValue("--rows"));
      if (rows > 3 * CHUNK) break;
      fill(chunk);
    }
  }
  function choose(name) {
    if (name === layout) return;
    layout = name;
    try {
      localStorage.setItem("karat-diff", name);
    } catch {
      // Not remembered.
    }
    const isFocused = place.querySelector(".layouts")?.contains(document.activeElement);
    redraw();
    if (isFocused) place.querySelector('.layouts [aria-pressed="true"]').focus();
    else [...marked].slice(0, 1).forEach((key) => look(key));
  }
  wide.addEventListener("change", () => place?.isConnected && layout === "split" && redraw());

  function mark(key, on) {
    if (on) marked.add(key);
    else marked.delete(key);
    for (const line of place.querySelectorAll(`.line[data-items~="${key}"]`)) {
      line.classList.toggle("on", line.dataset.items.split(" ").some((one) => marked.has(one)));
    }
  }
  function unmark() {
    [...marked].forEach((key) => mark(key, false));
  }
  // Scrolls to the first line of an item; its marker gets the focus if asked for.
  function look(key, withFocus = false) {
    const chunk = chunkOf.get(key);
    if (!chunk) return;
    fill(chunk);
    chunk.querySelector(`.line[data-items~="${key}"]`)?.scrollIntoView({ block: "center" });
    if (withFocus) chunk.querySelector(`.sign[data-item="${key}"]`)?.focus({ preventScroll: true });
  }
  const has = (key) => chunkOf.has(key);
  return { draw, mark, unmark, look, has, toggle: () => wide.matches && choose(layout === "split" ? "unified" : "split") };
})();
