export class Stations {
  constructor(private readonly base: string) {}

  async list(): Promise<string[]> {
    const answer = await fetch(`http://stations.example.org/${this.base}`);
    return (await answer.json()) as string[];
  }
}
