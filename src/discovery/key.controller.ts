import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Allowances } from '../allowances/allowances.js';
import { type Caller, hasScope } from '../auth/caller.js';
import { CurrentCaller } from '../auth/current-caller.decorator.js';
import { KeysService } from '../auth/keys.service.js';
import { DomainError } from '../errors/domain-error.js';
import { StoredQuota } from '../files/stored-quota.js';
import { Gate } from '../limits/gate.js';
import { Limited } from '../limits/limited.js';
import { WebhookSecrets } from '../webhooks/webhook-secrets.js';
import { toKeyAllowances } from './dto/key-allowances.dto.js';
import type { KeyDto } from './dto/key.dto.js';
import { ApiKey } from './openapi/operations.js';

@ApiTags('Key')
@Controller('v1/key')
export class KeyController {
  constructor(
    private readonly keys: KeysService,
    private readonly gate: Gate,
    private readonly secrets: WebhookSecrets,
    private readonly stored: StoredQuota,
    private readonly allowances: Allowances,
  ) {}

  @Get()
  @ApiKey
  @Limited('any', { needsKey: true })
  async readOwnKey(@CurrentCaller() caller: Caller): Promise<KeyDto> {
    const row = await this.keys.find(caller.keyId);
    if (row === null) throw new DomainError('invalid_key', 'This API key is unknown, revoked or expired.');
    const [quotas] = await this.gate.quotasOf([caller]);
    return {
      id: row.id,
      name: row.name,
      scopes: caller.scopes,
      models: caller.models,
      limits: quotas!,
      allowances: toKeyAllowances(this.allowances, caller.keyId, await this.stored.allowanceOf(caller.keyId)),
      max_priority: caller.maxPriority,
      max_waiting: caller.maxWaiting,
      max_running: caller.maxRunning,
      weight: caller.weight,
      expires_at: row.expiresAt?.toISOString() ?? null,
      ...(hasScope(caller, 'submit') && { webhook_secret: await this.secrets.secretOf(row.id) }),
    };
  }
}
