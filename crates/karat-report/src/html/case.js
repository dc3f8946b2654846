// One case: its code with goldens and findings on their lines, and why each of them was matched, missed or extra.

const caseView = (() => {
  const place = document.getElementById("case");
  const shown = ["everything", "misses", "matches", "extras"];
  let now = null;

  const lines = (item) => (item.line_start == null ? "" : item.line_end == null || item.line_end === item.line_start ? `:${item.line_start}` : `:${item.line_start}–${item.line_end}`);
  const where = (item) => (item.file == null ? "no location" : `${item.file}${lines(item)}`);

  // What became of every golden and finding of one trial.
  function story(data, tool, trial) {
    const record = data.tools[tool]?.find((one) => one.result.trial === trial);
    const result = record?.result;
    const goldens = data.goldens.map((golden, at) => ({ kind: "golden", key: `g${at}`, sign: `G${at + 1}`, info: golden, text: golden.text, state: "open" }));
    const findings = (result?.findings ?? []).map((finding, at) => ({ kind: "finding", key: `f${at}`, sign: `R${at + 1}`, info: finding, text: record.texts[finding.id], state: "extra", called: result.audit?.findings[finding.id] }));
    const golden = new Map(goldens.map((item) => [item.info.id, item]));
    const finding = new Map(findings.map((item) => [item.info.id, item]));
    const join = (match, state) => {
      const [g, f] = [golden.get(match.golden), finding.get(match.finding)];
      if (g && state !== "repeat") Object.assign(g, { state, pair: match, other: f });
      if (f) Object.assign(f, { state, pair: match, other: g });
    };
    for (const match of result?.matches ?? []) join(match, "match");
    for (const match of result?.acceptable ?? []) join(match, "acceptable");
    for (const repeat of result?.duplicates ?? []) join(repeat, "repeat");
    for (const miss of result?.misses ?? []) Object.assign(golden.get(miss.golden) ?? {}, { state: "miss", miss });
    for (const extra of result?.extras ?? []) {
      const report = finding.get(extra.finding);
      const trap = isTrap(extra) ? golden.get(extra.best?.golden) : undefined;
      Object.assign(report ?? {}, { state: isTrap(extra) ? "trap" : "extra", extra, other: trap });
      if (trap) Object.assign(trap, { state: "trap", other: report });
    }
    // A report with less detail does not say what became of the others; of required ones it lists all misses.
    if (result?.detail) for (const item of goldens.filter((one) => one.state === "open")) item.state = isKnown(result, item.info) ? "found" : "unknown";
    return { record, result, goldens, findings, golden, finding };
  }

  const isKnown = (result, golden) => result.detail === "misses" && golden.acceptance === "required" && golden.compared !== false;
  const isTrap = (extra) => extra.flags.includes("trap");
  const words = { match: "found", acceptable: "acceptable", repeat: "repeat", miss: "missed", extra: "extra", trap: "trap", open: "not reported", found: "found", unknown: "not in this report" };
  const wanted = (item) => {
    if (now.show === "misses") return item.state === "miss";
    if (now.show === "matches") return ["match", "acceptable", "repeat"].includes(item.state);
    if (now.show === "extras") return item.state === "extra" || item.state === "trap";
    return true;
  };

  async function open(at, query, still = () => true) {
    const data = await detail(at);
    if (!still()) return;
    const asked = toolOf.get(query.get("tool"));
    const tool = asked ?? (grid?.tool() ?? index.tools.findIndex((_, one) => cell(one, at).missed > 0 || cell(one, at).fp > 0));
    const chosen = Math.max(0, tool);
    const trials = (data.tools[chosen] ?? []).map((one) => one.result.trial);
    const wish = Number(query.get("trial"));
    const misses = missesOf(data, chosen);
    // Coming from another case, one meets its first miss, or going backwards its last.
    const telling = query.get("item") === "last" ? misses.at(-1) : misses[0];
    const trial = trials.includes(wish) ? wish : (telling?.trial ?? trials[0] ?? 1);
    const show = shown.includes(query.get("show")) ? query.get("show") : "everything";
    now = { at, data, tool: chosen, trial, show, item: query.get("item"), story: story(data, chosen, trial) };
    draw();
    place.dataset.shown = location.hash;
    document.title = `${plain(data.id)} · ${plain(index.suite)}`;
  }

  const address = (change) => {
    const to = { at: now.at, tool: now.tool, trial: now.trial, show: now.show, item: null, ...change };
    const query = new URLSearchParams({ tool: index.tools[to.tool] });
    if (to.at === now.at && to.trial != null) query.set("trial", to.trial);
    if (to.show !== "everything") query.set("show", to.show);
    if (to.item) query.set("item", to.item);
    return `#/case/${encodeURIComponent(index.ids[to.at])}?${query}`;
  };
  const go = (change) => (location.hash = address(change));
  // What is open stands in the address, and is no step of its own.
  const keep = (item) => {
    now.item = item;
    history.replaceState(history.state, "", address({ item }));
    place.dataset.shown = location.hash;
  };

  // The misses of the chosen tool, one after the other: in all trials of this case, then in all other cases that the grid shows.
  const counts = (one) => one.result.counted !== false;
  const missesOf = (data, tool) => (data.tools[tool] ?? []).filter(counts).flatMap((one) =>
    data.goldens.flatMap((golden, at) => ((one.result.misses ?? []).some((miss) => miss.golden === golden.id) ? [{ trial: one.result.trial, item: `g${at}` }] : [])));
  function step(by, patience = 200) {
    // Keys may come faster than cases are unpacked, and none is lost.
    if (place.dataset.shown !== location.hash && patience > 0) return setTimeout(() => step(by, patience - 1), 10);
    const misses = missesOf(now.data, now.tool);
    const here = misses.findIndex((miss) => miss.trial === now.trial && miss.item === now.item);
    // From anything else one goes on with the first miss of this trial, or back to what comes before it.
    const from = misses.findIndex((miss) => miss.trial >= now.trial);
    const first = from < 0 ? misses.length : from;
    const next = misses[here >= 0 ? here + by : by > 0 ? first : first - 1];
    const show = ["everything", "misses"].includes(now.show) ? now.show : "everything";
    if (next) return go({ ...next, show });
    const cases = around();
    for (let at = cases.indexOf(now.at) + by; at >= 0 && at < cases.length; at += by) {
      if (cell(now.tool, cases[at]).missed > 0) return go({ at: cases[at], trial: null, show, item: by > 0 ? "first" : "last" });
    }
    say(by > 0 ? "This tool has no later miss." : "This tool has no earlier miss.");
  }
  const around = () => {
    const rows = grid?.rows() ?? [];
    return rows.includes(now.at) ? rows : index.ids.map((_, at) => at);
  };
  function turn(by) {
    const cases = around();
    const to = cases[cases.indexOf(now.at) + by];
    if (to === undefined) say(by > 0 ? "This is the last case." : "This is the first case.");
    else go({ at: to, trial: null });
  }
  const say = (text) => (place.querySelector(".said").textContent = text);

  function draw() {
    const { data, story: outcome } = now;
    if (now.item === "first" || now.item === "last") {
      const missed = missesOf(data, now.tool).filter((miss) => miss.trial === now.trial);
      now.item = (now.item === "first" ? missed[0] : missed.at(-1))?.item ?? null;
      keep(now.item);
    }
    const facts = [data.verdict, ...Object.entries(data.fields).map(([name, value]) => `${name}: ${value}`), ...data.categories];
    place.replaceChildren(...nodes([
      make("nav", { class: "steps", "aria-label": "Cases" },
        make("a", { href: "#/cases", class: "back" }, "‹ All cases"),
        make("p", { class: "said dim", role: "status" }),
        make("button", { type: "button", click: () => turn(-1), title: "[" }, "‹ case"),
        make("button", { type: "button", click: () => turn(1), title: "]" }, "case ›"),
        make("button", { type: "button", class: "previous-miss", click: () => step(-1), title: "p" }, "‹ miss"),
        make("button", { type: "button", class: "next-miss", click: () => step(1), title: "n" }, "miss ›")),
      make("div", { class: "case-head" },
        make("div", {},
          make("h1", { tabindex: -1 }, data.id),
          data.name && data.name !== data.id && make("p", { class: "name" }, data.name),
          make("p", { class: "dim" }, facts.join(" · ")),
          data.about && folded(data.about)),
        who(data)),
      make("div", { class: "trial" }, filters(data), trialFacts(outcome)),
      make("div", { class: "columns" },
        code(data, outcome),
        make("div", { class: "items" },
          list("Goldens", outcome.goldens, "This case has no goldens."),
          list("Findings", outcome.findings, outcome.result?.detail ? `This report was written with --detail ${outcome.result.detail}; ${outcome.result.detail === "none" ? "findings" : "other findings"} are not in it.` : outcome.result?.outcome === "reported" ? "The tool reported nothing." : "No findings."))),
      make("p", { class: "dim keys" }, [["j", "k", "next and previous golden or finding"], ["n", "p", "miss"], ["[", "]", "case"], ["s", "side by side or unified"], ["Esc", "all cases"]]
        .map((keys, at) => [at > 0 && " · ", keys.slice(0, -1).map((key) => [make("kbd", {}, key), " "]), keys.at(-1)])),
    ]));
    for (const item of outcome.goldens.filter(isMiss)) expand(item);
    if (now.item) reveal(now.item);
  }

  // Who found what, over all trials.
  function who(data) {
    if (data.goldens.length === 0) return null;
    if (data.tools.some((trials) => trials.some((one) => one.result.detail === "none"))) return make("p", { class: "dim" }, "This report was written with --detail none; which goldens were found is not in it.");
    const unasked = (golden) => (golden.acceptance === "required" ? "" : golden.acceptance);
    const row = (golden, at) => make("tr", { class: unasked(golden) && "unasked" },
      make("th", { scope: "row" }, make("span", { class: "sign golden" }, `G${at + 1}`), " ", golden.title.slice(0, 140), unasked(golden) && make("span", { class: "dim" }, ` (${unasked(golden)})`)),
      index.tools.map((name, tool) => {
        const trials = (data.tools[tool] ?? []).filter(counts);
        const trap = golden.acceptance === "trap";
        const isLeftOut = trials.some((one) => one.result.detail) && golden.acceptance === "acceptable";
        if (isLeftOut) return make("td", { class: "n dim" }, "not in this report");
        const hits = (result) => (result.detail && !trap ? [1].filter(() => !result.misses.some((miss) => miss.golden === golden.id)) : trap ? result.extras.filter((extra) => isTrap(extra) && extra.best?.golden === golden.id) : [...result.matches, ...result.acceptable].filter((match) => match.golden === golden.id));
        const found = trials.filter((one) => hits(one.result).length > 0).length;
        const share = trials.length === 0 ? "" : found === 0 ? "none" : found === trials.length ? "all" : "some";
        const sign = { none: "○", some: "◐", all: "●" }[share] ?? "";
        const state = trap ? (found > 0 ? "fell" : "") : share;
        const on = tool === now.tool ? "true" : undefined;
        return make("td", { class: `n ${state}`, "aria-current": on },
          make("a", { href: address({ tool, trial: null, item: `g${at}` }), "aria-label": `${found}/${trials.length} ${name}: trials in which it was ${trap ? "reported" : "found"}` }, make("span", { "aria-hidden": "true" }, sign), ` ${found}/${trials.length}`));
      }));
    return make("details", { open: index.tools.length <= 8, class: "who" }, make("summary", {}, "Who found what"),
      make("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Who found what" }, make("table", { class: "small tools" },
        make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "golden"), index.tools.map((tool) => make("th", { scope: "col", class: "n" }, tool)))),
        make("tbody", {}, data.goldens.map(row)))));
  }

  function filters(data) {
    const choice = (label, name, options, value, change) => make("label", {}, make("span", {}, label), make("select", { name, change: (event) => go(change(event.target.value)) },
      options.map(([key, text]) => make("option", { value: key, selected: key === String(value) }, text))));
    const ended = (result) => (result.outcome === "reported" ? `${result.tp} found, ${result.fn} missed, ${result.fp} ${data.allow_unexpected ? "allowed" : "false"}${result.untouched_extras ? `, ${result.untouched_extras} not counted` : ""}` : ending(result));
    const trials = (data.tools[now.tool] ?? []).map((one) => [String(one.result.trial), `${one.result.trial}: ${ended(one.result)}`]);
    return make("form", { class: "filters", "aria-label": "What is shown", submit: (event) => event.preventDefault() },
      choice("Tool", "tool", index.tools.map((tool, at) => [String(at), tool]), now.tool, (value) => ({ tool: Number(value), trial: null })),
      trials.length > 0 && choice("Trial", "trial", trials, now.trial, (value) => ({ trial: Number(value) })),
      choice("Show", "show", shown.map((name) => [name, name]), now.show, (value) => ({ show: value })));
  }

  const endings = { crashed: "crashed", timed_out: "timed out", unparsable: "left unreadable output", unavailable: "could not be tried", skipped: "never ran" };
  const ending = (result) => endings[result.outcome] ?? result.outcome;
  const uncounted = (result) =>
    result.outcome === "unavailable"
      ? "It is excluded from all figures: an outage counts neither for nor against a tool."
      : "It is excluded from all figures: the profile excludes failed trials, or no trial of the tool came to a report.";
  function trialFacts(outcome) {
    const result = outcome.result;
    if (!result) return make("p", { class: "careful" }, "No such trial.");
    const facts = [make("p", { class: "on-paper" }, make("strong", {}, index.tools[now.tool]), ` · trial ${result.trial}`)];
    if (result.outcome !== "reported") facts.push(make("p", { class: "careful" }, `This trial ${ending(result)} and reported nothing. ${counts(outcome.record) ? "Its goldens count as missed." : uncounted(result)}`));
    // Right for the wrong reason is no success.
    const tone = result.lucky_guess ? "warn" : result.verdict_correct ? "good" : "bad";
    if (result.verdict) facts.push(make("p", { class: `verdict ${tone}` }, `Called ${result.verdict}${result.confidence == null ? "" : ` with confidence ${result.confidence}`}, which is ${result.verdict_correct ? "correct" : "wrong"}${result.lucky_guess ? ", without finding the target" : ""}.`));
    if (result.audit) facts.push(audit(result.audit));
    for (const note of result.notes ?? []) facts.push(folded(`Note by the tool: ${note}`, 300));
    return make("div", {}, facts);
  }

  // What an audit makes of the whole response, in figures and in its own words.
  function audit(of) {
    const scores = [["root cause", of.rcir], ["attack vector", of.ava], ["fix", of.fsv]].filter(([, value]) => value != null);
    const type = of.type_match ? ` Its type is ${{ exact: "named exactly", semantic: "named in other words", partial: "named in part", wrong: "named wrongly", not_mentioned: "not named" }[of.type_match] ?? of.type_match}.` : "";
    return make("section", { class: "audit", "aria-label": "The audit" },
      now.data.verdict === "vulnerable" && make("p", {}, make("strong", {}, "Audit: "), `${of.target_found ? "the target was found." : "the target was not found."}${type}`),
      scores.length > 0 && make("dl", { class: "parts" }, scores.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, make("meter", { min: 0, max: 1, value, "aria-label": `${name} ${three(value)}` }), ` ${value.toFixed(2)}`)])),
      judgement(of));
  }

  function list(title, all, nothing) {
    const items = all.filter(wanted);
    const none = all.length === 0 ? nothing : `None of the ${all.length} is shown: only ${now.show} are shown.`;
    return make("section", { "aria-label": title }, make("h2", {}, title),
      items.length === 0 ? make("p", { class: "dim" }, none) : make("ul", { class: "list" }, items.map(row)));
  }

  function row(item) {
    const [info, mine] = [item.info, item.kind];
    const says = item.kind === "finding" && item.state === "match" ? "match" : item.kind === "golden" && item.state === "trap" ? "reported:" : words[item.state];
    const called = item.called && item.state === "extra" ? `: ${item.called.toLowerCase().replace(/_/g, " ")}` : "";
    const other = item.other ? ` ${item.other.sign}` : called;
    const button = make("button", { type: "button", class: "item", "aria-expanded": "false", "data-item": item.key, click: () => toggle(item) },
      make("span", { class: `sign ${mine}` }, item.sign), " ",
      make("span", { class: `state ${item.state}` }, `${says}${other}`), " ",
      make("span", { class: "what" }, info.title.slice(0, 300)), " ",
      make("span", { class: "dim place" }, `${[info.acceptance === "required" ? null : info.acceptance, info.severity, where(info)].filter(Boolean).join(" · ").slice(0, 200)}`));
    button.addEventListener("mouseenter", () => codeView.mark(item.key, true));
    // The current one stays marked, wherever the mouse goes.
    button.addEventListener("mouseleave", () => codeView.mark(item.key, item.key === now.item));
    return make("li", {}, button, make("div", { class: "more", hidden: true, id: `more-${item.key}` }));
  }

  const by = (key) => [...now.story.goldens, ...now.story.findings].find((item) => item.key === key);
  // Misses are what one comes for, and open by themselves.
  const isMiss = (item) => item?.kind === "golden" && item.state === "miss";
  const buttonOf = (item) => place.querySelector(`button.item[data-item="${item.key}"]`);
  function pick(item) {
    keep(item.key);
    reveal(item.key);
  }
  // A click on the current item opens and closes it; a click on another makes it the current one.
  function toggle(item) {
    if (item.key !== now.item) pick(item);
    else if (buttonOf(item).getAttribute("aria-expanded") === "true") close(item);
    else expand(item);
  }
  function expand(item) {
    const more = document.getElementById(`more-${item.key}`);
    if (!more) return;
    buttonOf(item).setAttribute("aria-expanded", "true");
    more.replaceChildren(...nodes(why(item)));
    more.hidden = false;
  }
  function close(item) {
    buttonOf(item)?.setAttribute("aria-expanded", "false");
    const more = document.getElementById(`more-${item.key}`);
    if (more) more.hidden = true;
  }
  function reveal(key) {
    // A key from an address may be anything, and only one that is known may be looked for.
    const item = by(key);
    const button = item && buttonOf(item);
    if (!button) return;
    for (const opened of place.querySelectorAll('button.item[aria-expanded="true"]')) {
      const other = by(opened.dataset.item);
      if (other !== item && !isMiss(other)) close(other);
    }
    for (const other of place.querySelectorAll("button.item[aria-current]")) other.removeAttribute("aria-current");
    button.setAttribute("aria-current", "true");
    expand(item);
    codeView.unmark();
    codeView.mark(key, true);
    codeView.look(key);
    button.scrollIntoView({ block: "nearest" });
    // Where the list scrolls on its own, its reasons are below the item.
    const list = button.closest(".items");
    if (list.scrollHeight > list.clientHeight) list.scrollTop += button.getBoundingClientRect().top - list.getBoundingClientRect().top - 8;
    button.focus({ preventScroll: true });
  }
  // From one golden or finding to the next, in the order of the code.
  function walk(step) {
    const files = now.data.files.map((file) => file.path);
    const position = (item) => {
      const file = files.findIndex((path) => liesIn(item, path));
      return [file < 0 ? files.length : file, item.info.line_start ?? 0];
    };
    const items = [...now.story.goldens, ...now.story.findings].filter(wanted).map((item) => [item, position(item)]);
    items.sort(([, a], [, b]) => a[0] - b[0] || a[1] - b[1]);
    const at = items.findIndex(([item]) => item.key === now.item);
    const next = items[at < 0 ? (step > 0 ? 0 : items.length - 1) : at + step];
    say("");
    if (next) pick(next[0]);
    else say(step > 0 ? "This is the last golden or finding." : "This is the first golden or finding.");
  }

  // The pair and all that speaks for and against it.
  function why(item) {
    const out = [];
    if (codeView.has(item.key)) out.push(make("p", {}, make("button", { type: "button", class: "quiet to-code", click: () => codeView.look(item.key, true) }, "Show in the code")));
    if (item.text) out.push(folded(item.text));
    if (item.called && item.state !== "extra") out.push(make("p", {}, "The audit calls it ", make("strong", {}, item.called.toLowerCase().replace(/_/g, " ")), "."));
    if (item.info.rule_id) out.push(make("p", { class: "dim" }, `rule ${item.info.rule_id.slice(0, 200)}`));
    if (item.info.category) out.push(make("p", { class: "dim" }, `category ${item.info.category.slice(0, 200)}${item.info.acceptance && item.info.acceptance !== "required" ? ` · ${item.info.acceptance}` : ""}`));
    const pair = item.pair;
    if (pair) {
      const other = item.other ? `${item.other.sign} ${item.other.info.title.slice(0, 200)}` : pair.golden ?? pair.finding;
      out.push(make("h3", {}, item.state === "repeat" ? "Another report of " : item.kind === "golden" ? "Reported by " : "Reports ", item.other ? jump(item.other) : other));
      if (item.other) out.push(make("p", {}, other));
      out.push(make("p", {}, `Score ${three(pair.score)}${pair.decided_by ? `, decided by ${pair.decided_by.replace(/_/g, " ")}` : ""}${flags(pair)}`));
      if (pair.parts) out.push(parts(pair.parts));
      // The words of an audit stand above everything it speaks of.
      if (pair.judgement && !now.story.result?.audit) out.push(judgement(pair.judgement));
      if (pair.runner_up) out.push(candidate("Runner-up", pair.runner_up));
    }
    if (item.miss) {
      out.push(make("h3", {}, "Missed"), make("p", {}, `${item.miss.why}${flags(item.miss)}`));
      if (item.miss.best) out.push(candidate("Best candidate", item.miss.best));
      out.push(...refused(item.miss.refused));
    }
    if (item.kind === "golden" && item.state === "trap") {
      out.push(make("h3", {}, "A known false alarm"), make("p", {}, "Reporting it is an error, and this trial did: ", item.other ? jump(item.other) : "", "."));
    }
    const beyond = now.data.files.find((file) => file.path === item.info.file && file.change?.kind !== "not_compared" && item.info.line_start > file.length);
    if (beyond) out.push(make("p", { class: "careful" }, `This location is beyond the end of the file, which has ${many(beyond.length, "line")}.`));
    if (item.extra) {
      out.push(make("h3", {}, item.state === "trap" ? "A known false alarm" : "Matches no golden"), make("p", {}, `${item.extra.why}${flags(item.extra)}`));
      if (item.extra.left_out) out.push(make("p", { class: "dim" }, "On lines the change did not touch; not counted."));
      if (item.extra.best) out.push(candidate("Nearest golden", item.extra.best));
      out.push(...refused(item.extra.refused));
    }
    if (item.state === "open") {
      const trap = item.info.acceptance === "trap";
      out.push(make("p", { class: "dim" }, trap ? "A known false alarm: reporting it is an error. This trial did not report it." : "It may be reported but is not required. This trial did not report it."));
    }
    return out;
  }
  const jump = (item) => make("button", { type: "button", class: "quiet", click: () => pick(item) }, item.sign);
  const flags = (of) => (of.flags?.length ? ` · ${of.flags.join(", ").replace(/_/g, " ")}` : "");

  function parts(of) {
    const names = { file: "file", line: "lines", keyword: "keywords", text: "words", judge: "judge" };
    return make("dl", { class: "parts" }, Object.entries(names).filter(([key]) => of[key] !== undefined).flatMap(([key, name]) => [
      make("dt", {}, name),
      make("dd", {}, make("meter", { min: 0, max: 1, value: of[key], "aria-label": `${name} ${three(of[key])}` }), ` ${of[key].toFixed(2)}`)]));
  }
  function judgement(said) {
    const sure = said.confidence == null ? "" : `, ${Math.round(said.confidence * 100)} % sure`;
    return make("blockquote", {}, make("p", { class: "dim" }, `${said.judge}${sure}${said.exchange ? ` · karat judge show ${said.exchange.slice(0, 12)}` : ""}`), said.explanation ? folded(said.explanation) : null);
  }
  function candidate(title, of) {
    const item = of.golden != null ? now.story.golden.get(of.golden) : now.story.finding.get(of.finding);
    const judged = of.judged === true ? ", a judge said yes" : of.judged === false ? ", a judge said no" : "";
    return make("div", { class: "candidate" }, make("p", {}, make("strong", {}, title), " ", item ? jump(item) : (of.golden ?? of.finding), ` ${item ? item.info.title.slice(0, 160) : ""} · score ${three(of.score)}${judged}`), parts(of.parts));
  }

  // Who refused which candidate, how likely a match is, and the strongest reasons for and against it.
  function refused(list) {
    if (!list?.length) return [];
    const side = (of, wanted) => (of.reasons ?? []).filter((reason) => wanted(reason.log_odds)).map((reason) => `${reason.name} ${reason.log_odds > 0 ? "+" : "−"}${Math.abs(reason.log_odds).toFixed(1)}`).join(", ");
    const row = (of) => {
      const item = of.golden != null ? now.story.golden.get(of.golden) : now.story.finding.get(of.finding);
      const odds = of.probability == null ? "" : `, probability ${three(of.probability)} ${of.probability < of.threshold ? "<" : "≥"} ${three(of.threshold)}`;
      const reasons = [["for", side(of, (value) => value > 0)], ["against", side(of, (value) => value < 0)]].filter(([, text]) => text);
      return make("li", {}, item ? jump(item) : (of.golden ?? of.finding), ` refused by ${of.judge}${odds}`,
        reasons.map(([name, text]) => make("div", { class: "dim" }, `${name} (log-odds): ${text}`)), of.explanation && folded(of.explanation, 300));
    };
    return [make("h3", {}, "Refused candidates"), make("ul", { class: "refused" }, list.map(row))];
  }

  // A golden may name files by a pattern: then it lies where it was found, or in every file that fits.
  function liesIn(item, path) {
    if (item.info.files === undefined) return item.info.file === path;
    return item.other?.info.file ? item.other.info.file === path : item.info.files.includes(path);
  }
  function code(data, outcome) {
    return codeView.draw(data, [...outcome.goldens, ...outcome.findings].filter(wanted), {
      liesIn,
      pick,
      describe: (item) => `${item.sign}, ${words[item.state]}: ${item.info.title.slice(0, 200)}`,
      isCurrent: (item) => item.key === now.item,
    });
  }

  addEventListener("keydown", (event) => {
    if (place.hidden || event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    const keys = { j: () => walk(1), k: () => walk(-1), n: () => step(1), p: () => step(-1), s: () => codeView.toggle(), "]": () => turn(1), "[": () => turn(-1), Escape: () => (location.hash = "#/cases") };
    if (keys[event.key]) {
      event.preventDefault();
      keys[event.key]();
    }
  });
  // Whoever goes back is told where they were.
  const leave = (tell) => now && tell(now.at, now.tool);
  const look = () => now?.item && reveal(now.item);
  return { open, leave, look, place };
})();
