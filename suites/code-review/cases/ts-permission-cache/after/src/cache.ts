interface Entry<T> {
  readonly value: Promise<T>;
  readonly until: number;
}

/** Values that may be used again for a while. Whoever asks while a value is loaded waits for the same one. */
export class Cache<T> {
  private readonly entries = new Map<string, Entry<T>>();

  constructor(
    private readonly maxAge: number,
    private readonly now: () => number,
    private readonly room = 10_000,
  ) {}

  get(key: string, load: () => Promise<T>): Promise<T> {
    const entry = this.entries.get(key);
    if (entry !== undefined && entry.until > this.now()) {
      return entry.value;
    }
    const value = load();
    this.put(key, { value, until: this.now() + this.maxAge });
    value.catch(() => {
      if (this.entries.get(key)?.value === value) {
        this.entries.delete(key);
      }
    });
    return value;
  }

  remove(key: string): void {
    this.entries.delete(key);
  }

  private put(key: string, entry: Entry<T>): void {
    this.entries.delete(key);
    this.entries.set(key, entry);
    if (this.entries.size > this.room) {
      const [oldest] = this.entries.keys();
      this.entries.delete(oldest!);
    }
  }
}
