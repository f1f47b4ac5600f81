import type { Cluster } from '../cluster/cluster.js';
import type { ServiceNode } from '../cluster/service-node.js';
import { now, sleep } from '../clock.js';
import type { Random } from '../random.js';
import { countCall, refusedForMs } from './api-client.js';
import { followedMs, readEvents, type ServerSentEvent } from './event-stream.js';
import type { Entry, FollowedOutput, Ledger, OutputEvent } from './ledger.js';

/** Comments come every 15 s: a connection silent for longer is dead. */
const patienceMs = 18_000;

/** Follows the partial output of a request, and comes back to another node each time. */
export class OutputFollower {
  constructor(
    private readonly cluster: Cluster,
    private readonly ledger: Ledger,
    private readonly random: Random,
  ) {}

  async follow(entry: Entry, keepOn: () => boolean): Promise<void> {
    const followed: FollowedOutput = { id: entry.id, events: [], opened: 0, ended: false };
    this.ledger.followedOutputs.push(followed);
    // Some callers come late, even after the output is complete.
    if (this.random.chance(0.2)) await sleep(this.random.between(2_000, 12_000));
    while (!followed.ended && keepOn()) {
      const node = this.random.pick(this.cluster.apiNodes);
      const from = now();
      let cut = false;
      try {
        cut = await this.readOnce(entry, followed, node);
      } catch (error) {
        this.ledger.disturb(node, `an output stream: ${(error as Error).message}`, from, now());
        cut = true;
      }
      if (!cut && !followed.ended) this.ledger.disturb(node, 'an output stream ended early', from, now());
      if (!followed.ended) await sleep(this.random.between(100, 700));
    }
  }

  /** True: this side ended the connection, or an answer said why there is no stream. */
  private async readOnce(entry: Entry, followed: FollowedOutput, node: ServiceNode): Promise<boolean> {
    const last = followed.events.at(-1)?.id;
    const caller = this.random.pick(this.cluster.callers.keyless);
    // A caller has two ways to name its last event.
    const byHeader = this.random.chance(0.5);
    const query = last === undefined || byHeader ? '' : `?starting_after=${encodeURIComponent(last)}`;
    const resume: Record<string, string> = last !== undefined && byHeader ? { 'last-event-id': last } : {};
    const sentAt = now();
    const signal = AbortSignal.timeout(followedMs);
    const response = await fetch(`${node.url}/v1/queue/requests/${entry.id}/output/stream${query}`, {
      headers: { ...caller.headers, ...resume },
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
      else if (status === 503) this.ledger.disturb(node, 'an output stream: 503', sentAt, now());
      else {
        const detail = `${status} on ${node.name} after ${last}: ${JSON.stringify(problem)}`;
        this.ledger.violate(
          'a stream of the output of an accepted request opens on every node',
          detail,
          entry.id,
        );
      }
      return true;
    }
    followed.opened++;
    try {
      for await (const event of readEvents(body, patienceMs)) {
        this.take(followed, node, event);
        // Some callers lose their connection for reasons of their own.
        if (this.random.chance(0.03)) return true;
      }
    } catch (error) {
      if (!signal.aborted) throw error;
      return true;
    }
    return false;
  }

  private take(followed: FollowedOutput, node: ServiceNode, { event, id, data }: ServerSentEvent): void {
    const fields = JSON.parse(data) as Omit<OutputEvent, 'connection' | 'node' | 'id' | 'say'>;
    const say = event as OutputEvent['say'];
    const known = followed.events.at(-1)?.id ?? '';
    followed.events.push({ connection: followed.opened, node: node.name, id: id ?? known, say, ...fields });
    if (say === 'done') followed.ended = true;
  }
}
