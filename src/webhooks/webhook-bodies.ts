import { Injectable } from '@nestjs/common';
import type { Adapter } from '../config/adapter.js';
import { completedBody, type PayloadError, payloadErrorOf } from './completed-body.js';
import type { ClaimedDelivery } from './queries/claim-deliveries.js';

/** A delivery for the URL that a request of an adapter names. */
export interface AdapterDelivery {
  row: ClaimedDelivery;
  /** The request has started. Otherwise it has completed. */
  isStart: boolean;
  /** Why a success is sent without its output. undefined: it is sent with it. */
  payloadError: PayloadError | undefined;
  /** The beginning of URLs in the body. */
  base: string;
}

/**
 * Returns the JSON text of `batch.completed`. `isOfEndpoint`: the receiver is an endpoint of the key, which gets the
 * service's own form. undefined: the batch was deleted.
 */
export type BatchBody = (
  batchId: string,
  options: { isOfEndpoint: boolean; publicBase: string | undefined },
) => Promise<string | undefined>;

/** Returns the JSON text of a delivery in the form of an adapter. The output must be inserted as text. */
export type AdapterBody = (delivery: AdapterDelivery) => string;

/** The bodies of webhooks: the service's own, and those of adapters for requests that came in by them. */
@Injectable()
export class WebhookBodies {
  private readonly byAdapter = new Map<Adapter, AdapterBody>();
  private batchBody: BatchBody | undefined;

  /** Adapters register on every node, also where they are not served, because every node delivers. */
  register(adapter: Adapter, body: AdapterBody): void {
    this.byAdapter.set(adapter, body);
  }

  registerBatches(body: BatchBody): void {
    this.batchBody = body;
  }

  batch({ requestId, isOfEndpoint }: ClaimedDelivery, publicBase: string | undefined): ReturnType<BatchBody> {
    return this.batchBody!(requestId, { isOfEndpoint, publicBase });
  }

  completed(row: ClaimedDelivery, base: string): string {
    const own = row.adapter === null ? undefined : this.byAdapter.get(row.adapter);
    if (own === undefined) return completedBody(row, base);
    return own({ row, isStart: false, payloadError: payloadErrorOf(row), base });
  }

  /** Only requests of adapters have it. */
  started(row: ClaimedDelivery, base: string): string {
    return this.byAdapter.get(row.adapter!)!({ row, isStart: true, payloadError: undefined, base });
  }
}
