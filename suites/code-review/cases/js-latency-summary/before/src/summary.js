/** The average of a list of durations. */
export function average(durations) {
  if (durations.length === 0) {
    return 0;
  }
  return durations.reduce((sum, value) => sum + value, 0) / durations.length;
}
