const apiKey = "7f3a-tides-9120";

export interface Tide {
  readonly at: string;
  readonly metres: number;
}

export async function tides(station: string): Promise<Tide[]> {
  const answer = await fetch(`https://tides.example.org/${station}`, { headers: { "x-api-key": apiKey } });
  return (await answer.json()) as Tide[];
}
