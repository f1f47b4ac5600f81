import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Clock } from '../database/clock.js';
import { Database } from '../database/database.js';
import { isDatabaseUnavailable } from '../errors/database-error.js';
import { QueueEvents } from '../queue/queue-events.js';
import { Batcher } from '../tools/batcher.js';
import { BoundedCache } from '../tools/bounded-cache.js';
import { Sender } from './duties/sender.js';
import {
  addRunDeliveries,
  eventsOfEndpoints,
  type RunNews,
  wantedRunEvents,
} from './queries/add-run-deliveries.js';
import { type EventType, runEvents, type RunFacts, startedType } from './webhook-events.js';

/** A receiver that was added on another node is found within this time. */
const knownMs = 5_000;
const maxKnown = 10_000;

/**
 * Writes the deliveries about runs: that they have started, and what they emit. They follow the commits of what they
 * are about, so that claims cost nothing. A delivery that is lost with its node needs no repair, because its run is lost
 * too. While no receiver wants them, runs cost one small statement every few seconds.
 */
@Injectable()
export class RunDeliveries implements OnApplicationBootstrap {
  private readonly log = new Logger(RunDeliveries.name);
  private readonly news: Batcher<RunNews, void>;
  /** Events that adapters' requests may want. */
  private readonly ofAdapters = new Set<string>();
  /** Events that some endpoint wants; undefined: not known. */
  private ofEndpoints: ReadonlySet<string> | undefined;
  private knownUntil = 0;
  /** Counts the calls of `forget`. */
  private forgotten = 0;
  /** The events that the receivers of a request want. */
  private readonly wanted = new BoundedCache<ReadonlySet<string>>(maxKnown);

  constructor(
    private readonly database: Database,
    private readonly sender: Sender,
    private readonly events: QueueEvents,
    private readonly clock: Clock,
  ) {
    this.news = new Batcher((news) => this.write(news), { maxItems: 500 });
  }

  onApplicationBootstrap(): void {
    for (const { type, follow } of runEvents)
      follow(this.events, (requestId, facts) => this.add(requestId, type, facts));
  }

  /** Called if there is an adapter whose callers may name a URL for these events. */
  expect(events: readonly EventType[]): void {
    for (const event of events) this.ofAdapters.add(event);
  }

  /** Drops what is known of the wanted events, because this node has changed an endpoint. The next event reads it. */
  forget(): void {
    this.knownUntil = 0;
    this.forgotten++;
    this.wanted.forget(() => true);
  }

  private add(requestId: string, event: EventType, facts: RunFacts): void {
    const isKnown = performance.now() < this.knownUntil;
    if (isKnown && !this.ofAdapters.has(event) && this.ofEndpoints?.has(event) !== true) return;
    const content = { at: new Date(this.clock.now()).toISOString(), ...facts };
    this.news.add({ requestId, event, content }).catch((error: unknown) => this.note(error));
  }

  private async write(all: RunNews[]): Promise<void[]> {
    const news = await this.wantedOf(all);
    // The last of each event and request has the newest content. Each attempt starts by itself.
    const keyOf = ({ event, requestId, content: { attempt } }: RunNews): string =>
      event === startedType ? `${event} ${requestId} ${attempt}` : `${event} ${requestId}`;
    const newest = new Map(news.map((one) => [keyOf(one), one]));
    if (newest.size > 0 && (await addRunDeliveries(this.database, [...newest.values()]))) this.sender.wake();
    return all.map(() => undefined);
  }

  private async wantedOf(all: readonly RunNews[]): Promise<RunNews[]> {
    const now = performance.now();
    const { forgotten } = this;
    if (now >= this.knownUntil) {
      // Until the answer is there, all events are kept as if they were wanted.
      this.ofEndpoints = await eventsOfEndpoints(this.database);
      if (forgotten === this.forgotten) this.knownUntil = now + knownMs;
    }
    const some = all.filter(({ event }) => this.ofAdapters.has(event) || this.ofEndpoints!.has(event));
    const isEmitted = ({ event }: RunNews): boolean => event !== startedType;
    const emitted = new Set(some.filter(isEmitted).map(({ requestId }) => requestId));
    // A copy, because `forget` may clear the cache during the read.
    const wantedBy = new Map([...emitted].map((id) => [id, this.wanted.get(id, now)]));
    const ids = [...emitted].filter((id) => wantedBy.get(id) === undefined);
    const found = ids.length === 0 ? undefined : await wantedRunEvents(this.database, ids);
    for (const id of ids) {
      const events = found!.get(id) ?? new Set();
      wantedBy.set(id, events);
      if (forgotten === this.forgotten) this.wanted.set(id, events, now + knownMs);
    }
    // Starts are seldom enough to be looked up by the statement that writes them.
    return some.filter((one) => !isEmitted(one) || wantedBy.get(one.requestId)!.has(one.event));
  }

  private note(error: unknown): void {
    if (!isDatabaseUnavailable(error)) this.log.error({ err: error }, 'webhooks of runs cannot be written');
  }
}
