const windowMs = 60_000;

/** `times`: the occurrences that the line stands for, since the last line of its kind. */
type Write = (times: number) => void;

interface Kind {
  times: number;
  /** Writes the line of the last occurrence. */
  write: Write;
}

/**
 * Limits each kind of log line to one per minute. The first is written at once, and the next ones are counted into the
 * following line.
 */
export class RepeatedLines {
  private readonly kinds = new Map<string, Kind>();

  add(kind: string, write: Write): void {
    const known = this.kinds.get(kind);
    if (known === undefined) {
      write(1);
      this.kinds.set(kind, { times: 0, write });
      setTimeout(() => this.next(kind), windowMs).unref();
    } else {
      known.times++;
      known.write = write;
    }
  }

  /** Writes the lines of counted occurrences at shutdown. */
  flush(): void {
    for (const { times, write } of this.kinds.values()) if (times > 0) write(times);
    this.kinds.clear();
  }

  private next(kind: string): void {
    const { times = 0, write } = this.kinds.get(kind) ?? {};
    if (times === 0) {
      this.kinds.delete(kind);
      return;
    }
    write!(times);
    this.kinds.set(kind, { times: 0, write: write! });
    setTimeout(() => this.next(kind), windowMs).unref();
  }
}
