/** The average of a list of durations. */
export function average(durations) {
  if (durations.length === 0) {
    return 0;
  }
  return durations.reduce((sum, value) => sum + value, 0) / durations.length;
}

/** The durations that 50, 95 and 99 of 100 calls stay below, by the nearest rank. */
export function percentiles(durations, wanted = [50, 95, 99]) {
  const ordered = durations.sort();
  return Object.fromEntries(wanted.map((percent) => [`p${percent}`, nearestRank(ordered, percent)]));
}

function nearestRank(ordered, percent) {
  if (ordered.length === 0) {
    return 0;
  }
  const rank = Math.ceil((percent / 100) * ordered.length);
  return ordered[Math.max(rank, 1) - 1];
}

/** How much slower the second half of the calls was than the first, as a factor. */
export function slowdown(durations) {
  const middle = Math.floor(durations.length / 2);
  const first = average(durations.slice(0, middle));
  const second = average(durations.slice(middle));
  return first === 0 ? 1 : second / first;
}
