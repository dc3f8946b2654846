// The label token. It comes after the # of the address, is never sent with it, and stays in this tab. `asJson` sends a request,
// with the token if it changes something.
const labelToken = (() => {
  const stated = new URLSearchParams(location.hash.slice(1)).get("token");
  try {
    if (stated) sessionStorage.setItem("karat-label-token", stated);
  } catch {
    // Without session storage, the token is kept only on this page.
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
