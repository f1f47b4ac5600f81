import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, LessThan, type Repository } from 'typeorm';
import { AddressRule } from '../addresses/address-rule.js';
import { plainTransaction } from '../database/plain-transaction.js';
import { newId } from '../database/new-id.js';
import { DomainError } from '../errors/domain-error.js';
import { WebhookEndpointEntity } from './entities/webhook-endpoint.entity.js';
import { lockWebhooksOf } from './lock-key.js';
import { defaultEvents, type WebhookEventType } from './webhook-events.js';

/** A key has at most this many endpoints, because each gets a delivery of each event. */
const maxEndpoints = 50;

export type EndpointState = Pick<WebhookEndpointEntity, 'url' | 'events' | 'disabledAt'>;

/** What an endpoint was and is. */
export interface EndpointChange {
  id: string;
  /** null: it did not exist. */
  before: EndpointState | null;
  after: EndpointState;
}

/** What a call changes of an endpoint. undefined: it stays. */
export interface EndpointChanges {
  url?: string | undefined;
  events?: WebhookEventType[] | undefined;
  isDisabled?: boolean | undefined;
}

type Accounting = (manager: EntityManager, change: EndpointChange) => Promise<void>;

/** The URLs at which keys want to be called about all their requests. */
@Injectable()
export class WebhookEndpoints {
  constructor(
    @InjectRepository(WebhookEndpointEntity) private readonly rows: Repository<WebhookEndpointEntity>,
    private readonly rule: AddressRule,
  ) {}

  /**
   * Adds an endpoint. One that is disabled, such as by a 410, is called again. Without `events` it keeps the events that
   * it had.
   */
  async add(
    { keyId, url, events }: { keyId: string; url: string; events?: WebhookEventType[] | undefined },
    accounting: Accounting,
  ): Promise<WebhookEndpointEntity> {
    this.assertUsable(url);
    return plainTransaction(this.rows, async (manager) => {
      await lockWebhooksOf(keyId, manager);
      const rows = manager.getRepository(WebhookEndpointEntity);
      const before = await rows.findOne({
        where: { apiKeyId: keyId, url },
        lock: { mode: 'pessimistic_write' },
      });
      if (before === null) await assertRoom(rows, keyId);
      const id = before?.id ?? newId();
      const after = { url, events: events ?? before?.events ?? [...defaultEvents], disabledAt: null };
      if (before === null) await rows.insert({ id, apiKeyId: keyId, ...after });
      else await rows.update({ id }, after);
      await accounting(manager, { id, before, after });
      return rows.findOneByOrFail({ id });
    });
  }

  /** Oldest first. */
  list(keyId?: string): Promise<WebhookEndpointEntity[]> {
    const ofKey = keyId === undefined ? {} : { apiKeyId: keyId };
    return this.rows.find({ where: ofKey, order: { createdAt: 'ASC' } });
  }

  /** Newest first. `before`: the id of the last endpoint of the page before. */
  page(keyId: string, before: string | undefined, max: number): Promise<WebhookEndpointEntity[]> {
    const where = { apiKeyId: keyId, ...(before !== undefined && { id: LessThan(before) }) };
    return this.rows.find({ where, order: { id: 'DESC' }, take: max });
  }

  /** null: the key has no such endpoint. */
  find(keyId: string, id: string): Promise<WebhookEndpointEntity | null> {
    return this.rows.findOneBy({ apiKeyId: keyId, id });
  }

  /** Changes an endpoint in the transaction of `manager`. `keyId`: its key; undefined: any. undefined: there is none. */
  async change(
    manager: EntityManager,
    { id, keyId }: { id: string; keyId?: string },
    { url, events, isDisabled }: EndpointChanges,
  ): Promise<EndpointChange | undefined> {
    if (url !== undefined) this.assertUsable(url);
    const rows = manager.getRepository(WebhookEndpointEntity);
    const where = keyId === undefined ? { id } : { id, apiKeyId: keyId };
    const found = await rows.findOneBy(where);
    if (found === null) return undefined;
    await lockWebhooksOf(found.apiKeyId, manager);
    const before = await rows.findOne({ where, lock: { mode: 'pessimistic_write' } });
    if (before === null) return undefined;
    if (url !== undefined && url !== before.url && (await rows.existsBy({ apiKeyId: before.apiKeyId, url })))
      throw new DomainError('conflict', 'The key has another endpoint with this URL. Delete one of the two.');
    const isKept = isDisabled === undefined || isDisabled === (before.disabledAt !== null);
    await rows.update(
      { id },
      {
        url: url ?? before.url,
        events: events ?? before.events,
        disabledAt: isKept ? before.disabledAt : isDisabled ? () => 'clock_timestamp()' : null,
      },
    );
    return { id, before, after: await rows.findOneByOrFail({ id }) };
  }

  /** Returns false if there is none. Pending deliveries are still sent. */
  remove(
    which: { keyId: string } & ({ url: string } | { id: string }),
    accounting: (manager: EntityManager, removed: WebhookEndpointEntity) => Promise<void>,
  ): Promise<boolean> {
    const { keyId: apiKeyId, ...others } = which;
    return plainTransaction(this.rows, async (manager) => {
      const rows = manager.getRepository(WebhookEndpointEntity);
      const found = await rows.findOneBy({ apiKeyId, ...others });
      if (found === null || (await rows.delete({ id: found.id })).affected !== 1) return false;
      await accounting(manager, found);
      return true;
    });
  }

  private assertUsable(url: string): void {
    const refusal = this.rule.refusalOf(url);
    if (refusal === undefined) return;
    throw new DomainError('bad_request', `The endpoint cannot be used: its URL ${refusal}.`);
  }
}

async function assertRoom(rows: Repository<WebhookEndpointEntity>, keyId: string): Promise<void> {
  if ((await rows.countBy({ apiKeyId: keyId })) < maxEndpoints) return;
  const detail = `The key has ${maxEndpoints} endpoints, which is the most. Delete one that is no longer needed.`;
  throw new DomainError('conflict', detail);
}
