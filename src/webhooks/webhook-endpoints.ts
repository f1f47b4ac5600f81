import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { v7 as uuidv7 } from 'uuid';
import { AddressRule } from '../addresses/address-rule.js';
import { WebhookEndpointEntity } from './entities/webhook-endpoint.entity.js';

/** Where keys want to be called for all their requests. */
@Injectable()
export class WebhookEndpoints {
  constructor(
    @InjectRepository(WebhookEndpointEntity) private readonly rows: Repository<WebhookEndpointEntity>,
    private readonly rule: AddressRule,
  ) {}

  /** One that answered 410 is called again. */
  async add(keyId: string, url: string): Promise<void> {
    const refusal = this.rule.refusalOf(url);
    if (refusal !== undefined) throw new Error(`The endpoint cannot be used: its URL ${refusal}.`);
    const found = await this.rows.update({ apiKeyId: keyId, url }, { disabledAt: null });
    if (found.affected === 0) await this.rows.insert({ id: uuidv7(), apiKeyId: keyId, url });
  }

  /** Oldest first. */
  list(keyId?: string): Promise<WebhookEndpointEntity[]> {
    const ofKey = keyId === undefined ? {} : { apiKeyId: keyId };
    return this.rows.find({ where: ofKey, order: { createdAt: 'ASC' } });
  }

  /** False: there is none. What is on its way to it still goes. */
  async remove(keyId: string, url: string): Promise<boolean> {
    return (await this.rows.delete({ apiKeyId: keyId, url })).affected === 1;
  }
}
