const board = document.getElementById("notices");

export function clear() {
  board.replaceChildren();
}

export function show(notice) {
  const item = document.createElement("li");
  item.innerHTML = notice.text;
  board.append(item);
}
