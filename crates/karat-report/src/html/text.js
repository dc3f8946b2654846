// Everything that others wrote reaches the page through here, as text and never as markup.

// An element with attributes, listeners and children. Children that are no elements are text.
const make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    // What a field holds is compared with the data, and never shown as markup.
    else if (name === "value" && tag === "option") element.value = value;
    else if (name === "class") element.className = value;
    else element.setAttribute(name, value === true ? "" : plain(value));
  }
  element.append(...nodes(children));
  return element;
};

// What is to be shown: elements as they are, all else as text, and nothing for what is not there.
const nodes = (children) => children.flat(Infinity)
  .filter((child) => child !== null && child !== undefined && child !== false && child !== "")
  .map((child) => (child instanceof Node ? child : document.createTextNode(plain(child))));

// A text of any length: what is long is folded.
const folded = (text, most = 700) => {
  const all = plain(text);
  const block = make("p", { class: "long-text" });
  if (all.length <= most) {
    block.textContent = all;
    return block;
  }
  block.textContent = `${all.slice(0, most)}… `;
  const more = make("button", { type: "button", class: "quiet", click: () => (block.textContent = all) }, `show all ${all.length} characters`);
  block.append(more);
  return block;
};

const three = (value) => (value === null || value === undefined ? "–" : value.toFixed(3));
const many = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
