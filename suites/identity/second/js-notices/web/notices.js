const board = document.getElementById("notices");

/** Takes all notices off the board. */
export function clear() {
  board.replaceChildren();
}

export function show(notice) {
  const item = document.createElement("li");
  item.innerHTML = notice.text;
  board.append(item);
}
