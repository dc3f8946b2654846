// The token of pages that may change something. It comes with the address after #, is never sent along with it, and stays in
// this tab alone. `asJson` asks the server, with the token where something is to be changed.
const labelToken = (() => {
  const stated = new URLSearchParams(location.hash.slice(1)).get("token");
  try {
    if (stated) sessionStorage.setItem("karat-label-token", stated);
  } catch {
    // A browser that keeps nothing still has it on this page.
  }
  if (stated) history.replaceState(null, "", location.pathname + location.search);
  try {
    return stated ?? sessionStorage.getItem("karat-label-token");
  } catch {
    return stated;
  }
})();

async function asJson(address, sent) {
  const headers = sent === undefined ? {} : { "content-type": "application/json", "x-karat-token": labelToken ?? "" };
  const body = sent === undefined ? undefined : JSON.stringify(sent);
  const answer = await fetch(address, { method: sent === undefined ? "GET" : "POST", headers, body });
  const value = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(value.error ?? answer.statusText), { status: answer.status });
  return value;
}
