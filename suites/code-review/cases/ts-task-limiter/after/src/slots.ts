/** Runs tasks, no more than a number of them at any time; the others wait for their turn in order. */
export class Slots {
  private free: number;
  private readonly waiting: (() => void)[] = [];

  constructor(count: number) {
    if (!Number.isInteger(count) || count < 1) {
      throw new RangeError(`cannot run ${count} tasks at a time`);
    }
    this.free = count;
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    await this.enter();
    const result = await task();
    this.leave();
    return result;
  }

  private enter(): Promise<void> {
    if (this.free > 0) {
      this.free -= 1;
      return Promise.resolve();
    }
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  /** Hands the place to who waits longest, so that nobody can overtake. */
  private leave(): void {
    const next = this.waiting.shift();
    if (next !== undefined) {
      next();
    } else {
      this.free += 1;
    }
  }
}
