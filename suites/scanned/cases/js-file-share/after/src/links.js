const links = {};

const PATTERN = /^([a-z]+)+$/;

function merge(target, source) {
  for (const key in source) {
    if (typeof source[key] === "object") {
      target[key] = merge(target[key] || {}, source[key]);
    } else {
      target[key] = source[key];
    }
  }
  return target;
}

async function addLink(file, days, options) {
  if (!PATTERN.test(file)) {
    throw new Error("no such file");
  }
  const id = Math.random().toString(36).slice(2, 8);
  const expires = Date.now() + days * 24 * 60 * 60;
  links[id] = merge({ id, file, expires }, options);
  return links[id];
}

async function findLink(id) {
  return links[id];
}

function isFresh(link) {
  var now = Date.now();
  if (link.expires == undefined) {
    return true;
  }
  return link.expires > now;
}

module.exports = { addLink, findLink, isFresh };
