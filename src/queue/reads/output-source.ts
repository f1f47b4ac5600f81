import type { OutputPlace, OutputRow } from './queries/read-output.js';
import type { OutputRows } from '../queue-events.js';
import type { StatusRow } from './status-row.js';

/** Characters of the newest rows that are kept for the readers of a request. Readers further behind read the table. */
const maxTailLength = 32 * 1024;
const maxRowsAtOnce = 32;
/** Characters of rows that a reader gets at once, or one longer row. A client that does not read costs that much. */
const maxReadLength = 64 * 1024;

/** The place that a reader has reached: `index` is that of the next row. */
export type ReadPlace = Pick<OutputPlace, 'attempt' | 'index'>;

/** The output of one request while it grows, for all its readers in this process. */
export class OutputSource {
  readers = 0;
  /** Increases with every change. */
  version = 0;
  /** The process stops: no more output comes. */
  isClosed = false;
  /** The newest rows, without a gap. */
  private tail: { attempt: number; first: number; deltas: string[]; length: number };
  /**
   * `hints`: number of hints that the table may hold more than the tail. `read`: that number at the last read of the
   * table.
   */
  private hints = 1;
  private read = 0;
  /** The number of rows in the next read of the table. It is lower while rows are long. */
  private rowsAtOnce = maxRowsAtOnce;
  private readonly reads = new Map<string, Promise<OutputRow[] | 'gone'>>();
  private readonly waiting = new Map<object, () => void>();

  constructor(
    public row: StatusRow,
    private readonly readRows: (place: OutputPlace, limit: number) => Promise<OutputRow[]>,
  ) {
    this.tail = { attempt: row.attempt, first: 0, deltas: [], length: 0 };
  }

  /** Takes the status if it is newer than the known one. At the end of the request the table is read once more. */
  update(row: StatusRow): void {
    if (row.lastEventId <= this.row.lastEventId) return;
    this.row = row;
    if (row.state === 'COMPLETED') this.hints++;
    this.wake();
  }

  /** Notes that the table may hold more. */
  hint(): void {
    this.hints++;
    this.wake();
  }

  /** Adds committed rows, as this node wrote them. */
  add({ attempt, first, deltas }: NonNullable<OutputRows['rows']>): void {
    if (attempt < this.tail.attempt) return;
    this.append(attempt, first, deltas);
    this.wake();
  }

  close(): void {
    this.isClosed = true;
    this.wake();
  }

  /** Resolves once the version differs from this one, or the reader is released. */
  changed(version: number, reader: object): Promise<void> {
    if (version !== this.version) return Promise.resolve();
    return new Promise((resolve) => this.waiting.set(reader, resolve));
  }

  release(reader: object): void {
    this.waiting.get(reader)?.();
    this.waiting.delete(reader);
  }

  private wake(): void {
    this.version++;
    const waiting = [...this.waiting.values()];
    this.waiting.clear();
    for (const resolve of waiting) resolve();
  }

  /** Returns the next rows after a place; none: there are no more yet. `gone`: rows before or after it were dropped. */
  async after(place: ReadPlace): Promise<OutputRow[] | 'gone'> {
    const { attempt, first, deltas } = this.tail;
    const isKnown = place.index < this.next || (place.index === this.next && this.read === this.hints);
    if (place.attempt === attempt && place.index >= first && isKnown)
      return rowsOf(deltas.slice(place.index - first), place.index);
    // Readers at the same place share one read.
    const key = `${place.attempt} ${place.index} ${this.hints}`;
    const reading = this.reads.get(key) ?? this.readFrom(place);
    this.reads.set(key, reading);
    return reading.finally(() => this.reads.delete(key));
  }

  private get next(): number {
    return this.tail.first + this.tail.deltas.length;
  }

  /** Also reads the row before, which shows that nothing between was dropped. */
  private async readFrom({ attempt, index }: ReadPlace): Promise<OutputRow[] | 'gone'> {
    const { hints, rowsAtOnce } = this;
    const anchor = Math.max(0, index - 1);
    const sinceMs = this.row.startedAtMs ?? 0;
    const found = await this.readRows(
      { requestId: this.row.id, attempt, index: anchor, sinceMs },
      rowsAtOnce + 1,
    );
    if (found.length === 0 ? index > 0 : found[0]!.index !== anchor) return 'gone';
    const following = found.filter((row) => row.index >= index);
    const rows = firstOf(following);
    const isCut = rows.length < following.length;
    this.rowsAtOnce = isCut ? rows.length : Math.min(maxRowsAtOnce, rowsAtOnce * 2);
    const isWhole = !isCut && found.length <= rowsAtOnce;
    const isNewest = attempt > this.tail.attempt || index + rows.length >= this.next;
    if (!isWhole || attempt < this.tail.attempt || !isNewest) return rows;
    this.append(
      attempt,
      index,
      rows.map(({ delta }) => delta),
    );
    this.read = hints;
    return rows;
  }

  /** Appends rows to the tail. Rows that do not follow it replace it. */
  private append(attempt: number, first: number, deltas: readonly string[]): void {
    const { next } = this;
    const isNext = attempt === this.tail.attempt && first <= next;
    if (!isNext) this.tail = { attempt, first, deltas: [], length: 0 };
    for (const delta of isNext ? deltas.slice(next - first) : deltas) {
      this.tail.deltas.push(delta);
      this.tail.length += delta.length;
    }
    let dropped = 0;
    while (this.tail.length > maxTailLength && dropped < this.tail.deltas.length - 1)
      this.tail.length -= this.tail.deltas[dropped++]!.length;
    if (dropped === 0) return;
    this.tail.deltas.splice(0, dropped);
    this.tail.first += dropped;
  }
}

/** Returns the first rows whose length fits into one read, but at least one. */
function firstOf(rows: OutputRow[]): OutputRow[] {
  let length = 0;
  let count = 0;
  for (const { delta } of rows) {
    length += delta.length;
    if (count > 0 && length > maxReadLength) break;
    count++;
  }
  return rows.slice(0, count);
}

const rowsOf = (deltas: readonly string[], first: number): OutputRow[] =>
  deltas.map((delta, i) => ({ index: first + i, delta }));
