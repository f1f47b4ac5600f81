import { Injectable } from '@nestjs/common';
import type { Actor } from '../audit/actor.js';
import { DomainError } from '../errors/domain-error.js';
import type { Page, PageQuery } from '../http/input/page.js';
import { AuditedWebhooks } from './audited-webhooks.js';
import type {
  EndpointChangesDto,
  EndpointDto,
  EndpointPageDto,
  MadeEndpointDto,
  NewEndpointDto,
  WebhookSecretsDto,
} from './dto/endpoints.dto.js';
import type { WebhookEndpointEntity } from './entities/webhook-endpoint.entity.js';
import { RunDeliveries } from './run-deliveries.js';
import { WebhookEndpoints } from './webhook-endpoints.js';
import { WebhookSecrets } from './webhook-secrets.js';

/** The endpoints of a key, for the key itself. `actor`: the key. */
@Injectable()
export class EndpointCalls {
  constructor(
    private readonly webhooks: AuditedWebhooks,
    private readonly endpoints: WebhookEndpoints,
    private readonly secrets: WebhookSecrets,
    private readonly runs: RunDeliveries,
  ) {}

  async add(actor: Actor, { url, events }: NewEndpointDto): Promise<MadeEndpointDto> {
    const keyId = actor.keyId!;
    const row = await this.webhooks.add(actor, { keyId, url, events: events && [...new Set(events)] });
    this.runs.forget();
    return Object.assign(toEndpoint(row), { secret: await this.secrets.secretOf(keyId) });
  }

  async list(keyId: string, page: Page<PageQuery>): Promise<EndpointPageDto> {
    const rows = await this.endpoints.page(keyId, page.afterId, page.limit + 1);
    return page.of(rows, ({ id }) => id, toEndpoint);
  }

  async find(keyId: string, id: string): Promise<EndpointDto> {
    const row = await this.endpoints.find(keyId, id);
    if (row === null) throw unknown(id);
    return toEndpoint(row);
  }

  async change(
    actor: Actor,
    id: string,
    { url, events, disabled }: EndpointChangesDto,
  ): Promise<EndpointDto> {
    const keyId = actor.keyId!;
    const changes = { url, events: events && [...new Set(events)], isDisabled: disabled };
    const change = await this.webhooks.change(actor, { id, keyId }, changes);
    if (change === undefined) throw unknown(id);
    this.runs.forget();
    return this.find(keyId, id);
  }

  async remove(actor: Actor, id: string): Promise<void> {
    if (!(await this.webhooks.remove(actor, { keyId: actor.keyId!, id }))) throw unknown(id);
    this.runs.forget();
  }

  async rotate(actor: Actor): Promise<WebhookSecretsDto> {
    const keyId = actor.keyId!;
    await this.webhooks.rotate(actor, keyId);
    return { secrets: await this.secrets.all(keyId) };
  }
}

function toEndpoint({ id, url, events, createdAt, disabledAt }: WebhookEndpointEntity): EndpointDto {
  const disabled_at = disabledAt?.toISOString() ?? null;
  return { id, url, events, created_at: createdAt.toISOString(), disabled_at };
}

const unknown = (id: string): DomainError => new DomainError('unknown_id', `This key has no endpoint ${id}.`);
