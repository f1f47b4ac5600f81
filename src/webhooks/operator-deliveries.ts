import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, IsNull } from 'typeorm';
import type { DaySpan } from '../database/days.js';
import { History } from '../queue/reads/history.js';
import { Sender } from './duties/sender.js';
import { WebhookDeliveryEntity } from './entities/webhook-delivery.entity.js';
import { WebhookEndpointEntity } from './entities/webhook-endpoint.entity.js';
import {
  type OperatorDelivery,
  countPending,
  type DeliveryFilter,
  type DeliveryPage,
  type DeliveryPosition,
  isReadByKey,
  type ListedDelivery,
  listDeliveries,
} from './queries/operator-deliveries.js';
import { findEndpoint, listEndpoints, listHosts, type Receiver } from './queries/receivers.js';

export { type DeliveryState, deliveryStates } from './entities/webhook-delivery.entity.js';
export type { OperatorDelivery, DeliveryFilter, DeliveryPosition } from './queries/operator-deliveries.js';
export type { Receiver } from './queries/receivers.js';

/** At most this many rows are read for a page. The next page continues behind them. */
const maxLooks = 10_000;
const firstUuid = '00000000-0000-0000-0000-000000000000';
export const lastUuid = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** The deliveries of all keys and their receivers, for operators. Its statements run on the small pool. */
@Injectable()
export class OperatorDeliveries {
  constructor(
    private readonly source: DataSource,
    private readonly history: History,
    private readonly sender: Sender,
  ) {}

  /**
   * Returns deliveries of the newest requests first. A page may be short although there are more. `last`: the last row
   * that was read, if this limit ended the page.
   */
  async list(
    filter: DeliveryFilter,
    { before, limit }: { before?: DeliveryPosition | undefined; limit: number },
  ): Promise<{ rows: OperatorDelivery[]; last: DeliveryPosition | undefined }> {
    const isFewPending = filter.state === 'pending' && (await countPending(this.source, maxLooks)) < maxLooks;
    const page: DeliveryPage = {
      filter: { ...filter, keyId: filter.keyId ?? (await this.keyOf(filter.endpointId)) },
      before: before ?? { requestId: lastUuid, id: lastUuid },
      max: limit + 1,
      maxLooks,
      isFewPending,
    };
    const fitting: ListedDelivery[] = [];
    let last: ListedDelivery | undefined;
    for await (const span of this.spans(page)) {
      const rows = await listDeliveries(this.source, { ...page, max: page.max - fitting.length }, span);
      fitting.push(...rows.filter(({ fits }) => fits));
      last = rows.find(({ looks }) => looks === maxLooks);
      if (fitting.length > limit || last !== undefined) break;
    }
    return { rows: fitting, last };
  }

  /** A list that is not read by the key reads no days. */
  private async *spans(page: DeliveryPage): AsyncGenerator<DaySpan | undefined> {
    if (!isReadByKey(page)) yield undefined;
    else yield* this.history.spans({ firstId: firstUuid, beforeId: page.before.requestId });
  }

  async find({ requestId, id }: DeliveryPosition): Promise<OperatorDelivery | undefined> {
    const { rows } = await this.list({ requestId }, { limit: maxLooks });
    return rows.find((row) => row.id === id);
  }

  /** Restarts its tries, in the transaction of `manager`. Returns false if it is being tried now, or there is none. */
  async redeliver(manager: EntityManager, { requestId, id }: DeliveryPosition): Promise<boolean> {
    const { affected } = await manager.update(
      WebhookDeliveryEntity,
      { id, requestId, claimedBy: IsNull() },
      { state: 'pending', step: 0, nextTryAt: () => 'now()' },
    );
    return affected === 1;
  }

  /** Makes the sender look for redelivered deliveries, once they are committed. */
  wake(): void {
    this.sender.wake();
  }

  /** Newest first. */
  endpoints(before: string, max: number): Promise<Receiver[]> {
    return listEndpoints(this.source, before, max);
  }

  /** Returns hosts of URLs that requests named, by name. null: from the first on. */
  hosts(after: string | null, max: number): Promise<Receiver[]> {
    return listHosts(this.source, after, max);
  }

  endpoint(id: string): Promise<Receiver | undefined> {
    return findEndpoint(this.source, id);
  }

  private async keyOf(endpointId: string | undefined): Promise<string | undefined> {
    if (endpointId === undefined) return undefined;
    const row = await this.source.getRepository(WebhookEndpointEntity).findOneBy({ id: endpointId });
    return row?.apiKeyId;
  }
}
