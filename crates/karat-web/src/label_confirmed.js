// The list of confirmed extras to add to the suite.
const sheet = document.getElementById("confirmed");
const address = `/api/label/${encodeURIComponent(sheet.dataset.run)}/confirmed`;
const status = document.getElementById("status");

const part = (name, className, text) => {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = plain(text);
  return made;
};
const say = (words) => (status.textContent = plain(words));

const card = (one, refused) => {
  const box = part("section", "card");
  box.dataset.golden = one.golden;
  box.append(part("h2", "", one.title ?? one.golden));
  box.append(part("p", "dim", [one.case, one.file && `${one.file}${one.line ? `:${one.line}` : ""}`].filter(Boolean).join(" · ")));
  const yaml = part("pre", "", one.yaml);
  // Scrollable text must be reachable by keyboard.
  yaml.tabIndex = 0;
  yaml.setAttribute("role", "group");
  yaml.setAttribute("aria-label", "The golden as it would be written");
  box.append(yaml);
  if (!refused) {
    const button = part("button", "", "Add to the suite");
    button.type = "button";
    button.addEventListener("click", () => add(one, button));
    box.append(button);
  }
  return box;
};

const add = async (one, button) => {
  button.disabled = true;
  try {
    const reply = await asJson(address, { as: sheet.dataset.as, case: one.case, golden: one.golden });
    await list();
    say(`Added ${reply.golden} to ${reply.files.join(", ")}.`);
  } catch (error) {
    button.disabled = false;
    say(`Nothing was added: ${error.message}`);
  }
};

const list = async () => {
  try {
    const reply = await asJson(address);
    const cards = reply.goldens.map((one) => card(one, reply.refused));
    if (!cards.length) cards.push(part("p", "empty", "Nothing to add: no confirmed finding is missing from the suite."));
    document.getElementById("goldens").replaceChildren(...cards);
    say([reply.refused, ...reply.left_out].filter(Boolean).join(" "));
    sheet.dataset.state = "listed";
  } catch (error) {
    say(error.message);
  }
};
list();
