import { Injectable } from '@nestjs/common';
import type { Adapter } from '../config/adapter.js';
import { QueueService } from '../queue/queue.service.js';
import { completedBody, type PayloadError, payloadErrorOf } from './completed-body.js';
import type { ClaimedDelivery } from './queries/claim-deliveries.js';
import { startedBody } from './run-bodies.js';
import { SendingTerms } from './sending-terms.js';

/** What the run of a request has emitted until now. */
interface RunSaid {
  /** JSON text; null: nothing, or more than is sent. */
  output: string | null;
  logs: readonly string[];
}

/** A delivery for the URL that a request of an adapter names. */
export interface AdapterDelivery {
  row: ClaimedDelivery;
  /** The request has completed, has started, or its run has emitted something. */
  event: 'completed' | 'started' | 'said';
  /** Why a success is sent without its output. undefined: it is sent with it. */
  payloadError?: PayloadError | undefined;
  said?: RunSaid;
  /** The beginning of URLs in the body. */
  base: string;
}

/**
 * Returns the JSON text of `batch.completed`. `isOfEndpoint`: the receiver is an endpoint of the key, which gets the
 * service's own form. undefined: the batch was deleted.
 */
export type BatchBody = (
  batchId: string,
  options: { isOfEndpoint: boolean; base: string },
) => Promise<string | undefined>;

/** Returns the JSON text of a delivery in the form of an adapter. The output must be inserted as text. */
export type AdapterBody = (delivery: AdapterDelivery) => string;

/** Above every event id of a request. */
const lastEvent = Number.MAX_SAFE_INTEGER;

/** The bodies of webhooks: the service's own, and those of adapters for requests that came in through them. */
@Injectable()
export class WebhookBodies {
  private readonly byAdapter = new Map<Adapter, AdapterBody>();
  private batchBody: BatchBody | undefined;

  constructor(
    private readonly queue: QueueService,
    private readonly terms: SendingTerms,
  ) {}

  /** Adapters register on every node, also where they are not served, because every node delivers. */
  register(adapter: Adapter, body: AdapterBody): void {
    this.byAdapter.set(adapter, body);
  }

  registerBatches(body: BatchBody): void {
    this.batchBody = body;
  }

  /** An empty `base`: that of the call which made the batch. */
  batch({ requestId, isOfEndpoint }: ClaimedDelivery, base: string): ReturnType<BatchBody> {
    return this.batchBody!(requestId, { isOfEndpoint, base });
  }

  completed(row: ClaimedDelivery, base: string): string {
    const own = this.adapterOf(row);
    if (own === undefined) return completedBody(row, base);
    return own({ row, event: 'completed', payloadError: payloadErrorOf(row), base });
  }

  started(row: ClaimedDelivery, base: string): string {
    return this.adapterOf(row)?.({ row, event: 'started', base }) ?? startedBody(row, base);
  }

  /** Only requests of adapters have it. */
  async said(row: ClaimedDelivery, base: string): Promise<string> {
    const [output, entries] = await Promise.all([
      row.output ?? this.queue.outputSoFar(row.id, row.attempt, this.terms.maxPayloadBytes),
      this.queue.log(row.id, 0, lastEvent),
    ]);
    const logs = entries.map(({ message }) => message);
    return this.adapterOf(row)!({ row, event: 'said', said: { output, logs }, base });
  }

  private adapterOf({ adapter }: ClaimedDelivery): AdapterBody | undefined {
    return adapter === null ? undefined : this.byAdapter.get(adapter);
  }
}
