import { Controller, Delete, Get, HttpCode, Patch, Post } from '@nestjs/common';
import { Actor } from '../../audit/actor.decorator.js';
import { Reason } from '../../audit/reason.js';
import { Id, JsonBody, NoOptions, Options } from '../../http/input/decorators.js';
import { type Page, PageOf } from '../../http/input/page.js';
import type { WebhookSecretsDto } from '../../webhooks/dto/endpoints.dto.js';
import { Operators } from '../operators.js';
import { KeyChangesDto, NewKeyDto } from './key-changes.dto.js';
import {
  type AdminKeyDto,
  type AdminKeyPageDto,
  KeysQuery,
  LastAdminQuery,
  type MadeKeyDto,
} from './keys.dto.js';
import { KeySecrets } from './key-secrets.js';
import { Keys } from './keys.js';
import * as docs from './keys.docs.js';

@Controller('v1/admin/keys')
export class KeysController {
  constructor(
    private readonly keys: Keys,
    private readonly secrets: KeySecrets,
  ) {}

  @Get()
  @docs.ApiListKeys
  @Operators('observe')
  listKeys(@PageOf(KeysQuery) page: Page<KeysQuery>): Promise<AdminKeyPageDto> {
    return this.keys.list(page);
  }

  @Post()
  @HttpCode(201)
  @docs.ApiCreateKey
  @Operators('admin')
  createKey(@Actor() actor: Actor, @JsonBody(NewKeyDto) newKey: NewKeyDto): Promise<MadeKeyDto> {
    return this.keys.create(actor, newKey);
  }

  @Get(':key_id')
  @docs.ApiReadKey
  @Operators('observe')
  readKey(@Id('key') id: string): Promise<AdminKeyDto> {
    return this.keys.read(id);
  }

  @Patch(':key_id')
  @docs.ApiUpdateKey
  @Operators('admin')
  updateKey(
    @Actor() actor: Actor,
    @Id('key') id: string,
    @JsonBody(KeyChangesDto) changes: KeyChangesDto,
    @Options(LastAdminQuery) query: LastAdminQuery,
  ): Promise<AdminKeyDto> {
    return this.keys.update(actor, id, changes, query);
  }

  @Delete(':key_id')
  @HttpCode(204)
  @docs.ApiRevokeKey
  @Operators('admin')
  revokeKey(
    @Actor() actor: Actor,
    @Id('key') id: string,
    @Reason() reason: string | undefined,
    @Options(LastAdminQuery) query: LastAdminQuery,
  ): Promise<void> {
    return this.keys.revoke(actor, id, reason, query);
  }

  @Get(':key_id/webhook-secret')
  @docs.ApiReadWebhookSecret
  @Operators('admin')
  readWebhookSecret(
    @Actor() actor: Actor,
    @Id('key') id: string,
    @Options(NoOptions) _options: NoOptions,
  ): Promise<WebhookSecretsDto> {
    return this.secrets.read(actor, id);
  }

  @Post(':key_id/webhook-secret/rotate')
  @HttpCode(200)
  @docs.ApiRotateWebhookSecret
  @Operators('admin')
  rotateWebhookSecret(
    @Actor() actor: Actor,
    @Id('key') id: string,
    @Reason() reason: string | undefined,
  ): Promise<WebhookSecretsDto> {
    return this.secrets.rotate(actor, id, reason);
  }
}
