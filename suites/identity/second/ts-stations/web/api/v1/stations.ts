export class Stations {
  constructor(private readonly base: string) {}

  async first(): Promise<string | undefined> {
    return (await this.list())[0];
  }

  async list(): Promise<string[]> {
    const answer = await fetch(`http://stations.example.org/${this.base}`);
    return (await answer.json()) as string[];
  }
}
