import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, type Repository } from 'typeorm';
import { Sender } from './duties/sender.js';
import type { DeliveryDto } from './dto/deliveries.dto.js';
import { type DeliveryState, WebhookDeliveryEntity } from './entities/webhook-delivery.entity.js';

/** The time of the next try of a delivery; null: it is not pending. */
export const nextTryOf = ({ state, nextTryAt }: { state: DeliveryState; nextTryAt: Date }): string | null =>
  state === 'pending' ? nextTryAt.toISOString() : null;

/** Shows callers their deliveries, and redelivers them. */
@Injectable()
export class Deliveries {
  constructor(
    @InjectRepository(WebhookDeliveryEntity) private readonly rows: Repository<WebhookDeliveryEntity>,
    private readonly sender: Sender,
  ) {}

  /** Returns the deliveries of a request, oldest first. */
  async list(requestId: string): Promise<DeliveryDto[]> {
    const rows = await this.rows.find({ where: { requestId }, order: { createdAt: 'ASC', id: 'ASC' } });
    return rows.map((row) => {
      const { id, event, url, state, tries } = row;
      return { id, event, url, state, next_try_at: nextTryOf(row), tries };
    });
  }

  /** Restarts the tries of a delivery at once, unless it is being tried now. undefined: there is none. */
  async redeliver(requestId: string, id: string): Promise<DeliveryDto | undefined> {
    await this.rows.update(
      { id, requestId, claimedBy: IsNull() },
      { state: 'pending', step: 0, nextTryAt: () => 'now()' },
    );
    this.sender.wake();
    return (await this.list(requestId)).find((delivery) => delivery.id === id);
  }
}
