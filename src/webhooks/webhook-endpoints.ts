import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { EntityManager, Repository } from 'typeorm';
import { AddressRule } from '../addresses/address-rule.js';
import { WebhookEndpointEntity } from './entities/webhook-endpoint.entity.js';
import { defaultEvents, type WebhookEventType } from './webhook-events.js';
import { newId } from '../database/new-id.js';

export type EndpointState = Pick<WebhookEndpointEntity, 'events' | 'disabledAt'>;

interface AddedEndpoint {
  id: string;
  /** null: it did not exist. */
  before: EndpointState | null;
  after: EndpointState;
}

/** The URLs at which keys want to be called about all their requests. */
@Injectable()
export class WebhookEndpoints {
  constructor(
    @InjectRepository(WebhookEndpointEntity) private readonly rows: Repository<WebhookEndpointEntity>,
    private readonly rule: AddressRule,
  ) {}

  /**
   * Adds an endpoint. One that is disabled, such as by a 410, is called again. Without `events` it keeps the events that
   * it had. Returns its events.
   */
  async add(
    { keyId, url, events }: { keyId: string; url: string; events?: WebhookEventType[] | undefined },
    accounting: (manager: EntityManager, added: AddedEndpoint) => Promise<void>,
  ): Promise<WebhookEventType[]> {
    const refusal = this.rule.refusalOf(url);
    if (refusal !== undefined) throw new Error(`The endpoint cannot be used: its URL ${refusal}.`);
    return this.rows.manager.transaction(async (manager) => {
      const rows = manager.getRepository(WebhookEndpointEntity);
      const found = await rows.findOne({
        where: { apiKeyId: keyId, url },
        lock: { mode: 'pessimistic_write' },
      });
      const id = found?.id ?? newId();
      const after = { events: events ?? found?.events ?? [...defaultEvents], disabledAt: null };
      if (found === null) await rows.insert({ id, apiKeyId: keyId, url, ...after });
      else await rows.update({ id }, after);
      await accounting(manager, { id, before: found, after });
      return after.events;
    });
  }

  /** Oldest first. */
  list(keyId?: string): Promise<WebhookEndpointEntity[]> {
    const ofKey = keyId === undefined ? {} : { apiKeyId: keyId };
    return this.rows.find({ where: ofKey, order: { createdAt: 'ASC' } });
  }

  /** Returns false if there is none. Pending deliveries are still sent. */
  remove(
    keyId: string,
    url: string,
    accounting: (manager: EntityManager, id: string) => Promise<void>,
  ): Promise<boolean> {
    return this.rows.manager.transaction(async (manager) => {
      const rows = manager.getRepository(WebhookEndpointEntity);
      const found = await rows.findOneBy({ apiKeyId: keyId, url });
      if (found === null || (await rows.delete({ id: found.id })).affected !== 1) return false;
      await accounting(manager, found.id);
      return true;
    });
  }
}
