import { Controller, Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { AuditTrail } from '../../audit/audit-trail.js';
import type { GuardedRequest } from '../../auth/current-caller.decorator.js';
import { Limited } from '../../limits/limited.js';
import { assertNoOptions } from '../../http/input/option.js';
import { WebhookSecrets } from '../../webhooks/webhook-secrets.js';
import { idOf } from '../id-param.js';
import { ReasonBodies } from '../requests/reason-bodies.js';
import type { WebhookSecretsDto } from './key.dto.js';
import { Keys } from './keys.js';
import { ApiReadWebhookSecret, ApiRotateWebhookSecret } from './operations.js';

/** The secrets that sign the webhooks of a key. */
@ApiTags('Admin')
@Controller('v1/admin/keys/:key_id/webhook-secret')
export class WebhookSecretController {
  constructor(
    private readonly keys: Keys,
    private readonly secrets: WebhookSecrets,
    private readonly trail: AuditTrail,
    private readonly reasons: ReasonBodies,
  ) {}

  @Get()
  @ApiReadWebhookSecret()
  @Limited('admin', { needsKey: true })
  async readWebhookSecret(
    @Param('key_id') text: string,
    @Req() request: GuardedRequest,
  ): Promise<WebhookSecretsDto> {
    assertNoOptions(request.query);
    const id = await this.keys.known(idOf('key', text));
    const actor = this.trail.actorOf(request, request.caller);
    await this.trail.note(actor, { action: 'secret.read', target: id });
    return { secrets: await this.secrets.all(id) };
  }

  @Post('rotate')
  @HttpCode(200)
  @ApiRotateWebhookSecret()
  @Limited('admin', { needsKey: true })
  async rotateWebhookSecret(
    @Param('key_id') text: string,
    @Req() request: GuardedRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<WebhookSecretsDto> {
    const reason = await this.reasons.read(request, response);
    const id = await this.keys.known(idOf('key', text));
    const actor = this.trail.actorOf(request, request.caller);
    await this.secrets.rotate(id, (manager) =>
      this.trail.write(manager, actor, { action: 'secret.rotate', target: id, reason }),
    );
    return { secrets: await this.secrets.all(id) };
  }
}
