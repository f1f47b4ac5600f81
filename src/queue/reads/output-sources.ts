import { Injectable } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import type { Subscription } from 'rxjs';
import { Database } from '../../database/database.js';
import { OutputSource } from './output-source.js';
import { readOutput } from './queries/read-output.js';
import { type QueueChanges, queueChanges } from '../queue-events.js';
import { StatusSources } from './status-sources.js';
import type { StatusRow } from './status-row.js';

/** Every source checks the table this often, in case a message between nodes was lost. */
const refreshEveryMs = 20_000;

/** Keeps one source of output per request in this process, shared by all that read it while it grows. */
@Injectable()
export class OutputSources {
  private readonly sources = new Map<string, { source: OutputSource; statuses: Subscription }>();
  private refreshing: NodeJS.Timeout | undefined;

  constructor(
    private readonly database: Database,
    private readonly statuses: StatusSources,
  ) {}

  get size(): number {
    return this.sources.size;
  }

  /**
   * The readers that are not among the watchers of statuses. All readers of one source are one watcher, until the
   * request completes.
   */
  get moreReaders(): number {
    let more = 0;
    for (const { source, statuses } of this.sources.values())
      more += source.readers - (statuses.closed ? 0 : 1);
    return more;
  }

  @OnEvent(queueChanges)
  onChanges({ output = [], missed }: QueueChanges): void {
    if (this.sources.size === 0) return;
    if (missed === true) this.refresh();
    for (const { id, rows } of output) {
      const source = this.sources.get(id)?.source;
      if (source === undefined) continue;
      if (rows === undefined) source.hint();
      else source.add(rows);
      // This node does not know the start of the attempt yet.
      if (rows !== undefined && rows.attempt > source.row.attempt)
        this.statuses.refreshChanged({ changed: [id] });
    }
  }

  /** The caller must close the source. */
  open(row: StatusRow): OutputSource {
    let known = this.sources.get(row.id);
    if (known === undefined) {
      const source = new OutputSource(row, (place, limit) => readOutput(this.database, place, limit));
      const statuses = this.statuses.watch(row, { positions: false }).subscribe({
        next: (snapshot) => source.update(snapshot.row),
        complete: () => source.close(),
      });
      known = { source, statuses };
      this.sources.set(row.id, known);
      this.refreshing ??= setInterval(() => this.refresh(), refreshEveryMs);
    } else {
      // The message about its last change may be late or lost.
      known.source.update(row);
    }
    known.source.readers++;
    return known.source;
  }

  close(source: OutputSource): void {
    source.readers--;
    if (source.readers > 0) return;
    const { id } = source.row;
    this.sources.get(id)?.statuses.unsubscribe();
    this.sources.delete(id);
    if (this.sources.size > 0) return;
    clearInterval(this.refreshing);
    this.refreshing = undefined;
  }

  private refresh(): void {
    for (const { source } of this.sources.values()) source.hint();
  }
}
