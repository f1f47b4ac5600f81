const windowMs = 60_000;

/** `times`: how many it stands for, since the last line of its kind. */
type Write = (times: number) => void;

interface Kind {
  times: number;
  /** Of the last one. */
  write: Write;
}

/** Of each kind one log line a minute: the first at once, what follows is counted into the next. */
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

  /** At the end: what was counted and has no line yet. */
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
