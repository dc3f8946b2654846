// The live page of a run. Text from tools is inserted only as text nodes.
const live = document.getElementById("live");
const part = (id) => document.getElementById(id);

const node = (name, content, attributes = {}) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  for (const piece of [content].flat()) made.append(piece instanceof Node ? piece : plain(piece ?? ""));
  return made;
};
const whole = (number) => Math.round(number).toLocaleString("en");
const share = (value, most) => node("progress", "", { value: Math.min(value, most), max: Math.max(most, 1) });

const parts = (large, small, units) => (small === 0 ? `${large} ${units[0]}` : `${large} ${units[0]} ${small} ${units[1]}`);
const span = (ms) => {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return parts(Math.floor(seconds / 60), seconds % 60, ["min", "s"]);
  return parts(Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60), ["h", "min"]);
};
// No more digits than an estimate has.
const about = (ms) => {
  const seconds = ms / 1000;
  if (seconds < 10) return "a few seconds";
  if (seconds < 55) return `about ${10 * Math.round(seconds / 10)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `about ${minutes} min`;
  const tens = Math.round(minutes / 10);
  return tens < 60 ? `about ${parts(Math.floor(tens / 6), 10 * (tens % 6), ["h", "min"])}` : `about ${Math.round(tens / 6)} h`;
};
const money = (usd) => `USD ${usd.toFixed(usd < 0.01 ? 5 : 3)}`;
const words = (outcome) => outcome.replaceAll("_", " ");

const numbers = ["Trials", "Failed", "Spent", "Tokens", "Count", "Took"];
const table = (heads, rows) => {
  const style = (at) => (at === 0 ? { class: "whole" } : numbers.includes(heads[at]) ? { class: "n" } : {});
  const head = node("thead", node("tr", heads.map((name, at) => node("th", name, { scope: "col", ...style(at) }))));
  const line = (cells) => node("tr", cells.map((cell, at) => node("td", cell, { "data-label": heads[at], ...style(at) })));
  return node("table", [head, node("tbody", rows.map(line))], { class: "cards" });
};
const boxed = (content, kind) => node("span", content, kind ? { class: kind } : {});

const spent = (of) => {
  if (of.priced === 0) return "not reported";
  return `${money(of.usd)}${of.priced < of.attempts ? ` by ${of.priced} of ${of.attempts}` : ""}`;
};
const tokens = (of) => (of.metered === 0 ? "not reported" : `${whole(of.tokens_in)} in, ${whole(of.tokens_out)} out`);

const figure = (name, value, small) =>
  node("div", [node("dt", name), node("dd", small ? [value, node("small", small)] : value)]);

const draw = (run) => {
  const going = run.state === "running";
  part("state").textContent = run.state;
  part("state").className = `state ${run.state}`;
  part("bar").max = Math.max(run.planned, 1);
  part("bar").value = run.done;
  const percent = run.planned === 0 ? 100 : Math.floor((100 * run.done) / run.planned);
  part("sum").textContent = `${whole(run.done)} of ${whole(run.planned)} trials, ${percent} %`;
  document.title = going ? `${percent} % · ${live.querySelector("h1").textContent}` : `${run.state} · ${live.querySelector("h1").textContent}`;
  const took = (run.ended_ms ?? run.now_ms) - run.begun_ms;
  const remaining = run.left_ms === null ? "–" : run.done >= run.planned ? "scoring" : about(run.left_ms);
  part("figures").replaceChildren(
    ...(going
      ? [
          figure("elapsed", span(took)),
          figure("remaining", remaining),
          figure("pace", run.per_minute === null ? "–" : `${run.per_minute.toFixed(run.per_minute < 10 ? 1 : 0)} a minute`),
        ]
      : [figure("took", run.ended_ms === null ? "–" : span(took))]),
    figure("failed", whole(run.failed), run.failed > 0 ? `${((100 * run.failed) / Math.max(run.done - run.unavailable, 1)).toFixed(0)} % of those tried` : ""),
    ...(run.unavailable > 0 ? [figure("unavailable", whole(run.unavailable), "an outage, no key or a spent budget; not counted as failed")] : []),
    figure("spent", run.spent.priced === 0 ? "–" : money(run.spent.usd), run.spent.priced === 0 ? "no trial reports a price" : `${run.spent.priced} of ${run.spent.attempts} attempts report a price`),
    figure("tokens", run.spent.metered === 0 ? "–" : whole(run.spent.tokens_in + run.spent.tokens_out), run.spent.metered === 0 ? "no trial reports tokens" : tokens(run.spent)),
  );
  part("tools").replaceChildren(
    table(
      ["Tool", "Done", "Trials", "Failed", "Spent", "Tokens"],
      run.tools.map((tool) => [
        node("strong", tool.tool),
        share(tool.done, tool.planned),
        boxed(`${whole(tool.done)} of ${whole(tool.planned)}`),
        boxed(whole(tool.failed), tool.failed > 0 ? "bad" : ""),
        boxed(spent(tool)),
        boxed(tokens(tool)),
      ]),
    ),
  );
  part("failed").hidden = run.failures.length === 0;
  const failures = run.failures.map((one) => [
    node("strong", one.tool),
    boxed(words(one.outcome)),
    boxed(`${one.times} ×`),
    boxed(one.reason),
    boxed(one.case),
  ]);
  part("failures").replaceChildren(table(["Tool", "Outcome", "Count", "Reason", "Last case"], failures));
  if (run.more_failures > 0) part("failures").append(node("p", `and ${run.more_failures} more reasons`, { class: "dim" }));
  const last = run.last.map((one) => [
    node("strong", one.tool),
    boxed(`${one.case}, trial ${one.number}${one.attempt > 1 ? `, attempt ${one.attempt}` : ""}`),
    boxed(one.findings === null ? words(one.outcome) : `${one.findings} finding${one.findings === 1 ? "" : "s"}`, one.failed ? "bad" : ""),
    boxed(one.took_ms === null ? "–" : one.took_ms < 10000 ? `${(one.took_ms / 1000).toFixed(1)} s` : span(one.took_ms)),
  ]);
  part("last").replaceChildren(
    last.length === 0 ? node("p", "No trial has finished yet.", { class: "dim" }) : table(["Tool", "Case", "Result", "Took"], last),
  );
  over(run, going);
  warn(run, going);
};

// Says early that a tool does not work at all. What is already shown stays, so that it is announced once.
let warned = "";
const warn = (run, going) => {
  const place = part("warning");
  const now = JSON.stringify([run.all_failed, going]);
  if (now === warned) return;
  warned = now;
  place.hidden = run.all_failed.length === 0;
  const first = (number) => (number === 1 ? "The first trial failed" : `The first ${whole(number)} trials all failed`);
  const list = run.all_failed.map((one) => node("li", [node("strong", one.tool), `: ${words(one.outcome)} in ${one.case}: ${one.reason}`]));
  const all = run.all_failed.length === run.tools.length;
  const title = all ? first(run.done) : "Some tools have failed in every trial so far";
  const advice = going
    ? `To fix it, stop the run with Ctrl-C, and continue with: karat run --resume ${run.short_id} --retry-failed`
    : `Try again with: karat run --resume ${run.short_id} --retry-failed`;
  place.replaceChildren(node("h2", title), node("ul", list), node("p", advice));
};

const over = (run, going) => {
  const place = part("over");
  place.hidden = going;
  if (going) return;
  const report = node("a", "Show the report", { href: live.dataset.report });
  const said = {
    complete: "Every planned trial is done. ",
    stopped: "The run was stopped early. ",
    failed: `No trial came to a report. Try again with: karat run --resume ${run.short_id} --retry-failed. `,
    interrupted: `The run was interrupted. Resume it with: karat run --resume ${run.short_id}. `,
  };
  place.className = run.state;
  place.replaceChildren(said[run.state] ?? "", report);
};

let drawn = "";
let pause = 1500;
let waiting;

const ask = async () => {
  clearTimeout(waiting);
  // Pause while the page is hidden.
  if (document.hidden) return;
  try {
    const answer = await fetch(live.dataset.progress);
    const run = await answer.json();
    if (!answer.ok) throw new Error(run.error ?? answer.statusText);
    part("lost").hidden = true;
    const { now_ms, ...rest } = run;
    // Leave unchanged parts alone, so that selections and screen readers are not disturbed.
    if (run.state === "running" || JSON.stringify(rest) !== drawn) draw(run);
    drawn = JSON.stringify(rest);
    live.dataset.ready = "true";
    pause = run.state === "running" ? 1500 : 10000;
  } catch (error) {
    const said = error instanceof TypeError ? "the server is unreachable" : error.message;
    part("lost").textContent = `This page is out of date: ${said}. Retrying.`;
    part("lost").hidden = false;
    pause = Math.min(pause * 2, 30000);
  }
  waiting = setTimeout(ask, pause);
};

document.addEventListener("visibilitychange", () => {
  if (!document.hidden) ask();
});
ask();
