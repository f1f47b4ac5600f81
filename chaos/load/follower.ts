import type { Cluster } from '../cluster/cluster.js';
import { sleep } from '../clock.js';
import type { Random } from '../random.js';
import { readEvents } from './event-stream.js';
import type { Entry, Followed, Ledger } from './ledger.js';
import type { Status } from './poller.js';

/** Keep-alive comments come every 15 s: who is silent for longer is gone. */
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
      try {
        await this.readOnce(entry, followed);
      } catch {
        // the connection broke
      }
      if (!followed.ended) await sleep(this.random.between(100, 700));
    }
  }

  private async readOnce(entry: Entry, followed: Followed): Promise<void> {
    const node = this.random.pick(this.cluster.apiNodes);
    const last = followed.events.at(-1);
    const response = await fetch(`${node.url}/v1/queue/requests/${entry.id}/status/stream?logs=1`, {
      headers: last === undefined ? {} : { 'last-event-id': String(last.id) },
      signal: AbortSignal.timeout(120_000),
    });
    if (response.status !== 200 || response.body === null) {
      await response.body?.cancel();
      if (response.status === 204 && last?.status === 'COMPLETED') followed.ended = true;
      else if (response.status !== 503) {
        const told = `${response.status} on ${node.name} after event ${last?.id}, ${last?.status}`;
        this.ledger.violate('a stream of an accepted request opens on every node', told, entry.id);
      }
      return;
    }
    followed.opened++;
    for await (const { id, data } of readEvents(response.body, patienceMs)) {
      const status = JSON.parse(data) as Status;
      followed.events.push({
        connection: followed.opened,
        id: Number(id),
        status: status.status,
        position: status.queue_position,
        logs: (status.logs ?? []).map(({ level, source, message }) => `${level} ${source} ${message}`),
      });
      if (status.status === 'COMPLETED') {
        followed.ended = true;
        const { success = false, error } = status;
        this.ledger.see(entry, { success, code: error?.code ?? null, node: node.name });
      }
      // Some callers lose their connection for no reason of ours.
      if (this.random.chance(0.03)) return;
    }
  }
}
