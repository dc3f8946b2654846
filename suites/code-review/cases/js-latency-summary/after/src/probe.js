/** Calls a function a number of times and notes how many milliseconds each call took, in order. */
export async function probe(call, times, now = () => performance.now()) {
  const durations = [];
  for (let i = 0; i < times; i += 1) {
    const start = now();
    await call();
    durations.push(Math.round(now() - start));
  }
  return durations;
}
