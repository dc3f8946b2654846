export function showName(element, name) {
  element.innerHTML = name;
}

export function showPier(element, pier) {
  element.textContent = pier.name;
}

export function showBerth(element, berth) {
  element.innerHTML = `<b>${berth.number}</b>`;
}
