import type { Cluster } from '../cluster/cluster.js';
import type { ServiceNode } from '../cluster/service-node.js';
import { now, sleep } from '../clock.js';
import type { Random } from '../random.js';
import { countCall, refusedForMs } from './api-client.js';
import { followedMs, readEvents } from './event-stream.js';
import type { Entry, Followed, Ledger } from './ledger.js';
import type { Status } from './poller.js';

/** Keep-alive comments come every 15 s: a connection silent for longer is dead. */
const patienceMs = 18_000;

/** Follows a request as an EventSource does, but comes back to another node each time. */
export class Follower {
  constructor(
    private readonly cluster: Cluster,
    private readonly ledger: Ledger,
    private readonly random: Random,
  ) {}

  async follow(entry: Entry, keepOn: () => boolean): Promise<void> {
    const followed: Followed = { id: entry.id, events: [], opened: 0, ended: false };
    this.ledger.followed.push(followed);
    while (!followed.ended && keepOn()) {
      const node = this.random.pick(this.cluster.apiNodes);
      const from = now();
      let cut = false;
      try {
        cut = await this.readOnce(entry, followed, node);
      } catch (error) {
        this.ledger.disturb(node, `a stream: ${(error as Error).message}`, from, now());
        cut = true;
      }
      if (!cut && !followed.ended) this.ledger.disturb(node, 'a stream ended early', from, now());
      if (!followed.ended) await sleep(this.random.between(100, 700));
    }
  }

  /** True: this side ended the connection, or an answer said why there is no stream. */
  private async readOnce(entry: Entry, followed: Followed, node: ServiceNode): Promise<boolean> {
    const last = followed.events.at(-1);
    const caller = this.random.pick(this.cluster.callers.keyless);
    const sentAt = now();
    const signal = AbortSignal.timeout(followedMs);
    const response = await fetch(`${node.url}/v1/queue/requests/${entry.id}/status/stream?logs=1`, {
      headers: { ...caller.headers, ...(last === undefined ? {} : { 'last-event-id': last.place }) },
      signal,
    });
    const { status, body } = response;
    const opened = status === 200 && body !== null;
    const problem: unknown = opened ? undefined : await response.json().catch(() => undefined);
    const headers = Object.fromEntries(response.headers);
    countCall(caller, 'GET', node, sentAt, now(), { status, body: problem });
    if (!opened) {
      const waitMs = refusedForMs({ headers, body: problem });
      if (waitMs !== undefined) await sleep(waitMs);
      else if (status === 204 && last?.status === 'COMPLETED') followed.ended = true;
      else if (status === 503) this.ledger.disturb(node, 'a stream: 503', sentAt, now());
      else {
        const detail = `${status} on ${node.name} after event ${last?.id}, ${last?.status}`;
        this.ledger.violate('a stream of an accepted request opens on every node', detail, entry.id);
      }
      return true;
    }
    followed.opened++;
    try {
      for await (const { id, data } of readEvents(body, patienceMs)) {
        this.take(entry, followed, node, id!, JSON.parse(data) as Status);
        // Some callers lose their connection for reasons of their own.
        if (this.random.chance(0.03)) return true;
      }
    } catch (error) {
      if (!signal.aborted) throw error;
      return true;
    }
    return false;
  }

  private take(entry: Entry, followed: Followed, node: ServiceNode, place: string, status: Status): void {
    followed.events.push({
      connection: followed.opened,
      place,
      id: Number.parseInt(place, 10),
      status: status.status,
      position: status.queue_position,
      logs: (status.logs ?? []).map(({ level, source, message }) => `${level} ${source} ${message}`),
    });
    if (status.status !== 'COMPLETED') return;
    followed.ended = true;
    const { success = false, error } = status;
    this.ledger.see(entry, { success, code: error?.code ?? null, node: node.name });
  }
}
