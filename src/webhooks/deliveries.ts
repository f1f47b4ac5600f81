import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, type Repository } from 'typeorm';
import { Sender } from './duties/sender.js';
import type { DeliveryDto } from './dto/deliveries.dto.js';
import { WebhookDeliveryEntity } from './entities/webhook-delivery.entity.js';

/** What callers see of their deliveries, and may do with them. */
@Injectable()
export class Deliveries {
  constructor(
    @InjectRepository(WebhookDeliveryEntity) private readonly rows: Repository<WebhookDeliveryEntity>,
    private readonly sender: Sender,
  ) {}

  /** Those of a request, oldest first. */
  async list(requestId: string): Promise<DeliveryDto[]> {
    const rows = await this.rows.find({ where: { requestId }, order: { createdAt: 'ASC', id: 'ASC' } });
    return rows.map(({ id, url, state, tries }) => ({ id, url, state, tries }));
  }

  /** Begins its tries anew, at once; one that is being tried this moment is left to it. Undefined: there is none. */
  async redeliver(requestId: string, id: string): Promise<DeliveryDto | undefined> {
    await this.rows.update(
      { id, requestId, claimedBy: IsNull() },
      { state: 'pending', step: 0, nextTryAt: () => 'now()' },
    );
    this.sender.wake();
    return (await this.list(requestId)).find((delivery) => delivery.id === id);
  }
}
