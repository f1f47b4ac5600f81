import type { Service } from '../cluster/cluster.js';
import { sleep } from '../clock.js';
import type { Random } from '../random.js';
import { isConclusive, refusedForMs, type ApiClient } from './api-client.js';
import type { Caller } from './caller.js';
import type { Entry, Ledger } from './ledger.js';

export interface Status {
  status: 'IN_QUEUE' | 'IN_PROGRESS' | 'COMPLETED';
  request_id: string;
  queue_position?: number;
  success?: boolean;
  error?: { code: string } | null;
  logs?: { level: string; source: string; message: string; timestamp: string }[];
}

/** Polls a request on any node until it has ended, fetches the response, and reads it again later. */
export class Poller {
  constructor(
    private readonly cluster: Service,
    private readonly client: ApiClient,
    private readonly ledger: Ledger,
    private readonly random: Random,
  ) {}

  async poll(entry: Entry, keepOn: () => boolean): Promise<void> {
    for (let pauseMs = 200; keepOn(); pauseMs = Math.min(pauseMs * 1.5, 2_000)) {
      await sleep(pauseMs);
      if ((await this.look(entry))?.status === 'COMPLETED') {
        await this.fetchResponse(entry);
        await sleep(this.random.between(0, 8_000));
        await this.look(entry);
        return;
      }
    }
  }

  async look(entry: Entry): Promise<Status | undefined> {
    const node = this.random.pick(this.cluster.apiNodes);
    const answer = await this.client.call(this.readerOf(entry), node, 'GET', `requests/${entry.id}/status`);
    if (!isConclusive(answer)) {
      await sleep(refusedForMs(answer) ?? 0);
      return undefined;
    }
    if (answer.status !== 200) {
      this.ledger.violate(
        'an accepted request is known on every node',
        `${answer.status} on ${node.name}`,
        entry.id,
      );
      return undefined;
    }
    const status = answer.body as Status;
    if (status.status === 'COMPLETED') {
      const { success = false, error } = status;
      this.ledger.see(entry, { success, code: error?.code ?? null, node: node.name });
    } else if (entry.seenEnd !== undefined) {
      this.ledger.violate('COMPLETED is final', `${node.name} says ${status.status} afterwards`, entry.id);
    }
    return status;
  }

  private async fetchResponse(entry: Entry): Promise<void> {
    const node = this.random.pick(this.cluster.apiNodes);
    const answer = await this.client.call(this.readerOf(entry), node, 'GET', `requests/${entry.id}`);
    if (!isConclusive(answer)) return;
    const { success, code } = entry.seenEnd!;
    const found = answer.status === 200 ? null : ((answer.body as { code?: string }).code ?? null);
    if ((answer.status === 200) !== success || found !== code) {
      this.ledger.violate('status and response agree', `${code} and ${answer.status} ${found}`, entry.id);
    }
    if (answer.status === 200) entry.output = answer.body;
  }

  /** The id alone gives the right to read, with or without a key. */
  private readerOf({ caller }: Entry): Caller {
    return this.random.chance(0.5) ? caller : this.random.pick(this.cluster.callers.keyless);
  }
}
