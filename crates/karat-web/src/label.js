// The labelling page. The server returns the open items in order; this page shows one after the other, keeps every answer until
// the server has it, and inserts text only as text nodes.

const labelling = document.getElementById("labelling");
const { run, kind, as: who, on } = labelling.dataset;
const base = `/api/label/${encodeURIComponent(run)}/${kind}`;
const part = (id) => document.getElementById(id);
const asking = kind === "audits" ? { as: who, on } : { as: who };
const question = part("question").textContent;

// Local storage is optional: without it, only persistence is lost.
const kept = (store, key) => {
  const name = `karat-${key}:${run}:${kind}:${who}${kind === "audits" ? `:${on}` : ""}`;
  return {
    read() {
      try {
        return JSON.parse(store().getItem(name) ?? "[]");
      } catch {
        return [];
      }
    },
    write(value) {
      try {
        value.length ? store().setItem(name, JSON.stringify(value)) : store().removeItem(name);
      } catch {
        // The page still has it in memory.
      }
    },
  };
};
const skips = kept(() => sessionStorage, "skipped");
const waits = kept(() => localStorage, "unsent");

let open = []; // ids, in the server's order
let skipped = skips.read(); // skipped ids, in that order
let unsent = waits.read(); // answers not yet on the server, oldest first
let current = null; // the shown id
let note = "";
let sure = null; // confidence in tenths
let confirmed = null; // the extra confirmed last
let listed = false; // whether the list of open items was received
let sending = false;
let undoing = false;
let lost = false; // whether the status says that the server is unreachable
const items = new Map(); // items by id
const fetching = new Map();

// The next items; skipped ones last.
const order = () => {
  const gone = new Set(unsent.map((answer) => answer.id));
  const left = open.filter((id) => !gone.has(id));
  const late = skipped.filter((id) => left.includes(id));
  return [...left.filter((id) => !late.includes(id)), ...late];
};

const say = (words, tone = "") => {
  const status = part("status");
  status.textContent = plain(words);
  status.dataset.tone = tone;
  lost = false;
};

const pause = (ms) => new Promise((wait) => setTimeout(wait, ms));

const element = (name, className, text) => {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = plain(text);
  return made;
};

// --- display

const place = (of) => {
  if (!of.file) return null;
  const [first, last] = of.lines ?? [];
  if (first === undefined) return of.file;
  return first === last ? `${of.file}:${first}` : `${of.file}:${first}–${last}`;
};

const words = (into, of) => {
  const box = into.querySelector(".words");
  box.replaceChildren();
  if (of.title) box.append(element("p", "title", of.title));
  const more = of.description ?? of.message;
  if (more && more !== of.title) box.append(element("p", "text", more));
  if (of.rule) box.append(element("p", "title", `rule ${of.rule}, no text`));
  const facts = [place(of), of.severity, of.category].filter(Boolean);
  if (facts.length) {
    const list = element("ul", "facts");
    facts.forEach((fact) => list.append(element("li", "", fact)));
    box.append(list);
  }
  if (of.keywords?.length) box.append(element("p", "dim", `expected words: ${of.keywords.join(", ")}`));
};

// A response as a whole: what it states, its findings, and its text.
const response = (into, of) => {
  const box = into.querySelector(".words");
  const parts = [];
  const stated = [of.verdict && `verdict: ${of.verdict}`, of.confidence && `confidence: ${of.confidence}`].filter(Boolean);
  if (stated.length) parts.push(element("p", "dim", stated.join(" · ")));
  for (const finding of of.findings ?? []) {
    words(into, finding);
    parts.push(...box.childNodes);
  }
  if (of.text) parts.push(element("p", "text", of.text));
  box.replaceChildren(...parts);
};

// Audits ask one question after another; each has its own answers.
const ask = (asked) => {
  if (!asked) return;
  part("question").textContent = asked.question;
  const buttons = asked.answers.map(({ key, answer: word, name, tone }) => {
    const button = element("button", `answer ${tone}`);
    Object.assign(button, { type: "button" });
    Object.assign(button.dataset, { answer: word, key });
    button.append(element("kbd", "", key), ` ${name}`);
    return button;
  });
  labelling.querySelector(".buttons").replaceChildren(...buttons);
};

const code = (excerpts) => {
  const box = part("code").querySelector(".lines");
  box.replaceChildren();
  if (!excerpts.length) box.append(element("p", "dim", "The code is not available."));
  for (const excerpt of excerpts) {
    box.append(element("p", "file", excerpt.file));
    const list = element("ol", "code");
    let before = 0;
    for (const line of excerpt.lines) {
      if (before && line.number > before + 1) list.append(element("li", "gap", "⋮"));
      before = line.number;
      const row = element("li", [line.golden && "g", line.finding && "r"].filter(Boolean).join(" "));
      const marks = [line.golden && "the known problem", line.finding && "the report"].filter(Boolean);
      if (marks.length) row.setAttribute("aria-label", `line ${line.number}, ${marks.join(" and ")}: ${plain(line.text)}`);
      row.append(element("b", "bar-g", line.golden ? "g" : ""), element("b", "bar-r", line.finding ? "r" : ""));
      row.append(element("span", "no", line.number), element("code", "", line.text));
      list.append(row);
    }
    box.append(list);
  }
  box.querySelector(".g, .r")?.scrollIntoView({ block: "nearest" });
};

const reachable = (text) => {
  text.tabIndex = 0;
  text.setAttribute("role", "group");
  text.setAttribute("aria-label", "Full text");
};

const show = () => {
  const [next] = order();
  current = next ?? null;
  part("done").hidden = Boolean(next);
  part("item").hidden = !next;
  part("question").textContent = next ? question : "Everything is labelled.";
  part("answers").hidden = false;
  labelling.querySelector(".buttons").hidden = !next;
  if (!next) {
    labelling.dataset.state = "done";
    delete labelling.dataset.item;
    return;
  }
  const item = items.get(next);
  if (!item) {
    labelling.dataset.state = "loading";
    fetchItem(next).then(() => items.has(next) && current === next && show());
    return;
  }
  const golden = part("golden");
  golden.hidden = kind === "extras";
  golden.querySelector("h2").textContent = kind === "audits" ? "Target" : "Known problem";
  words(golden, item.golden ?? { title: "None: the case is safe." });
  part("finding").querySelector("h2").textContent = item.response ? "Response" : "Report";
  if (item.response) response(part("finding"), item.response);
  else words(part("finding"), item.finding);
  ask(item.ask);
  code(item.code);
  part("item").dataset.case = item.case;
  labelling.dataset.item = next;
  labelling.dataset.state = "asking";
  note = "";
  sure = null;
  drawSaid();
  closeNote();
  closeNumber();
  // Scrollable text must be reachable by keyboard.
  part("item").querySelectorAll(".text").forEach((text) => text.scrollHeight > text.clientHeight && reachable(text));
  // Drop the focus, so that Enter or space does not press a button again.
  part("item").focus({ preventScroll: true });
  scrollTo({ top: 0 });
  ahead();
};

const drawSaid = () => {
  const remarks = [sure && `${sure}0 % sure`, note && `note: ${note}`].filter(Boolean);
  part("said").textContent = plain(remarks.join(" · "));
};

const progress = (reply) => {
  // Few items matter most; the number of all others would only deter.
  const { done, open: left, first } = reply.progress;
  const shown = first && first.done < first.items ? first : { items: done + left, done };
  part("headline").textContent = plain(reply.headline);
  part("count").textContent = plain(reply.advice ?? `${done} of ${done + left} labelled by you`);
  const bar = part("bar");
  bar.max = Math.max(1, shown.items);
  bar.value = shown.done;
  part("remarks").replaceChildren(...reply.remarks.map((remark) => element("li", "", remark)));
};

// --- requests

// Retry after a while, never twice at once.
let later = 0;
const unreached = (error, again, ms) => {
  say(gone(error), "bad");
  lost = true;
  clearTimeout(later);
  later = setTimeout(again, ms);
};
const reached = () => lost && !unsent.length && say("");

const fetchItem = (id) => {
  if (items.has(id)) return Promise.resolve();
  if (!fetching.has(id)) {
    const asked = asJson(`${base}/item/${id}?${new URLSearchParams(asking)}`)
      .then((item) => {
        items.set(id, item);
        reached();
      })
      .catch((error) => {
        if (error.status === 404) return load();
        if (current === id) unreached(error, () => current === id && show(), 2000);
      })
      .finally(() => fetching.delete(id));
    fetching.set(id, asked);
  }
  return fetching.get(id);
};

// Prefetch the next items.
const ahead = () => order().slice(1, 4).forEach((id) => fetchItem(id));

const load = async () => {
  try {
    const reply = await asJson(`${base}?${new URLSearchParams(asking)}`);
    open = reply.open;
    listed = true;
    reply.items.forEach((item) => items.set(item.id, item));
    progress(reply);
    reached();
    if (labelling.dataset.state !== "asking" || !order().includes(current)) show();
  } catch (error) {
    unreached(error, load, 3000);
  }
};

// --- answers

const answer = (word) => {
  if (!current || labelling.dataset.state !== "asking" || undoing) return;
  const said = { ...asking, id: current, answer: word };
  if (sure) said.confidence = sure / 10;
  if (note) said.note = note;
  unsent.push(said);
  waits.write(unsent);
  skipped = skipped.filter((id) => id !== said.id);
  skips.write(skipped);
  labelling.dataset.state = "keeping";
  document.querySelector(`[data-answer="${CSS.escape(word)}"]`)?.animate?.([{ opacity: 0.4 }, { opacity: 1 }], 180);
  // The next item is shown when the store has the answer, or after a short time if the server is slow or unreachable: the answer
  // is kept here.
  const shown = said.id;
  const on = () => current === shown && show();
  setTimeout(on, 150);
  send().then(on);
};

let retry = 0;
const send = async () => {
  if (sending) return;
  sending = true;
  clearTimeout(retry);
  while (unsent.length) {
    const said = unsent[0];
    try {
      const reply = await asJson(base, said);
      done(said);
      progress(reply);
      say(`Saved: ${reply.message}.`, "good");
      offer(kind === "extras" && said.answer === "yes" ? said.id : null);
    } catch (error) {
      if ([400, 404, 409, 422].includes(error.status)) {
        done(said);
        say(`An answer was rejected: ${error.message}`, "bad");
        load();
        continue;
      }
      const many = unsent.length === 1 ? "1 answer is" : `${unsent.length} answers are`;
      say(`${many} saved in this browser but not in the store yet. ${gone(error)}`, "bad");
      retry = setTimeout(send, 2500);
      break;
    }
  }
  sending = false;
};

const gone = (error) => {
  if (error.status === 403) return error.message;
  return error.status ? `${error.message} Retrying.` : "The server is unreachable. Retrying.";
};

const done = (said) => {
  open = open.filter((id) => id !== said.id);
  unsent = unsent.filter((other) => other !== said);
  waits.write(unsent);
};

const skip = () => {
  if (!current || labelling.dataset.state !== "asking" || undoing) return;
  skipped = [...skipped.filter((id) => id !== current), current];
  skips.write(skipped);
  say("Skipped; it is shown again at the end.");
  show();
};

// Wait for the list of open items and for answers in flight.
const settled = async () => {
  while (!listed || (unsent.length && sending)) await pause(30);
};

const undo = async () => {
  if (undoing) return;
  undoing = true;
  try {
    await settled();
    // An unsent answer is removed only here.
    if (unsent.length) {
      const last = unsent.pop();
      waits.write(unsent);
      first(last.id);
      say(`Undid ${last.answer}.`);
      return;
    }
    const reply = await asJson(`${base}/undo`, asking);
    progress(reply);
    if (!reply.said) return say("Nothing to undo.");
    say(`Undid ${reply.said}.`);
    offer(null);
    if (reply.undone) {
      items.set(reply.undone.id, reply.undone);
      first(reply.undone.id);
    }
  } catch (error) {
    say(`Could not undo: ${error.message}`, "bad");
  } finally {
    undoing = false;
  }
};

// The undone item is shown next.
const first = (id) => {
  skipped = skipped.filter((other) => other !== id);
  skips.write(skipped);
  open = [id, ...open.filter((other) => other !== id)];
  show();
};

// --- notes

const openNote = () => {
  if (!current) return;
  part("noting").hidden = false;
  part("note").value = note;
  part("note").focus();
};

const closeNote = () => {
  const had = part("noting").contains(document.activeElement);
  part("noting").hidden = true;
  if (had) part("item").focus({ preventScroll: true });
};

part("noting").addEventListener("submit", (event) => {
  event.preventDefault();
  note = part("note").value.trim();
  drawSaid();
  closeNote();
});

// --- numbers

const openNumber = (typed) => {
  part("numbering").hidden = false;
  part("number").value = typed;
  part("number").focus();
};

const closeNumber = () => {
  const had = part("numbering").contains(document.activeElement);
  part("numbering").hidden = true;
  if (had) part("item").focus({ preventScroll: true });
};

part("numbering").addEventListener("submit", (event) => {
  event.preventDefault();
  const typed = part("number").value.trim();
  closeNumber();
  // The server says so where it is no such number.
  if (typed) answer(typed);
});

// --- a confirmed extra as a golden

const adopting = part("adopting");
let proposed = null;

// Name the confirmed extra in the offer, since the page already shows the next item.
const offer = (id) => {
  confirmed = id;
  const button = part("offer");
  if (!button) return;
  const { title, message, rule } = items.get(id)?.finding ?? {};
  const name = (title ?? message ?? rule ?? "it").split("\n")[0];
  button.hidden = !id;
  button.querySelector("span").textContent = plain(`Add «${name.length > 80 ? `${name.slice(0, 80)}…` : name}» as a golden`);
};

const golden = async () => {
  if (kind !== "extras") return;
  await settled();
  if (!confirmed) return say("Press g after a yes to add the finding as a golden.");
  const address = `/api/label/${encodeURIComponent(run)}/confirmed`;
  try {
    const reply = await asJson(address);
    proposed = reply.goldens.find((one) => one.ids.includes(confirmed)) ?? null;
    const why = reply.refused ?? (proposed ? `${proposed.case}, in the suite ${reply.suite}:` : unproposed(reply));
    part("adopt-said").textContent = plain(why);
    part("adopt-yaml").textContent = plain(proposed?.yaml ?? "");
    part("adopt-yaml").hidden = !proposed;
    part("adopt-add").hidden = !proposed || Boolean(reply.refused);
    if (!adopting.open) adopting.showModal();
    part("adopt-leave").focus();
  } catch (error) {
    say(error.message, "bad");
  }
};

const unproposed = (reply) =>
  reply.left_out.length
    ? `Cannot add it: ${reply.left_out.join("; ")}`
    : "Nothing to add: the suite already has it, or the labels disagree.";

const adopt = async () => {
  if (!proposed || part("adopt-add").hidden) return;
  const { case: of, golden: id } = proposed;
  proposed = null;
  try {
    const reply = await asJson(`/api/label/${encodeURIComponent(run)}/confirmed`, { as: who, case: of, golden: id });
    say(`Added ${reply.golden} to ${reply.files.join(", ")}.`, "good");
    offer(null);
  } catch (error) {
    say(`Nothing was added: ${error.message}`, "bad");
  }
  adopting.close();
};

part("adopt-add").addEventListener("click", adopt);
part("adopt-leave").addEventListener("click", () => adopting.close());

// --- keys and taps

const help = () => part("help").showModal();
const deeds = { skip, undo, note: openNote, help, golden };

const press = (key) => {
  const button = labelling.querySelector(`button[data-key="${CSS.escape(key)}"]`);
  if (button?.dataset.answer) return answer(button.dataset.answer), true;
  if (button?.dataset.do) return deeds[button.dataset.do](), true;
  if (items.get(current)?.ask?.number && /^[0-9.]$/.test(key)) return openNumber(key), true;
  if (kind === "pairs" && /^[0-9]$/.test(key) && current) {
    sure = key === "0" ? null : Number(key);
    drawSaid();
    return true;
  }
  return false;
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (adopting.open) {
    if (event.key.toLowerCase() === "a" && !event.repeat) adopt();
    return;
  }
  if (part("help").open) {
    if (event.key === "?") part("help").close();
    return;
  }
  if (event.target === part("number")) {
    if (event.key === "Escape") closeNumber();
    return;
  }
  if (event.target === part("note")) {
    if (event.key === "Escape") closeNote();
    return;
  }
  if (event.target.closest?.("input, select, textarea")) return;
  // Ignore key repeat.
  if (event.repeat) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (key.length === 1 && key !== " " && press(key)) event.preventDefault();
});

labelling.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-key]");
  if (button?.dataset.answer) answer(button.dataset.answer);
  if (button?.dataset.do) deeds[button.dataset.do]();
});

addEventListener("online", send);
addEventListener("beforeunload", (event) => {
  // Unsent answers are sent the next time, but warn before leaving.
  if (unsent.length && !waits.read().length) event.preventDefault();
});

try {
  localStorage.setItem("karat-annotator", who);
} catch {
  // Without local storage, the name is asked for every time.
}
load().then(send);
