/** A booking, as a line of the export has it: date, cents and text, separated by tabs. */
export function parseRecord(line, number) {
  const fields = line.split("\t");
  if (fields.length !== 3 || !/^-?\d+$/.test(fields[1])) {
    throw new SyntaxError(`line ${number}: expected date, cents and text`);
  }
  return { date: fields[0], cents: Number(fields[1]), text: fields[2] };
}
