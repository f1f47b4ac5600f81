import { Controller, Delete, Get, HttpCode, Param, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { AuditTrail } from '../audit/audit-trail.js';
import type { Caller } from '../auth/caller.js';
import { CurrentCaller, type GuardedRequest } from '../auth/current-caller.decorator.js';
import { KeysService } from '../auth/keys.service.js';
import { Sessions } from '../auth/sessions.js';
import { DomainError } from '../errors/domain-error.js';
import { ClientAddress } from '../http/client-address.js';
import { sendReply } from '../http/reply.js';
import { Limited } from '../limits/limited.js';
import { CursorList, PageQuery } from './cursor-page.js';
import { idOf } from './id-param.js';
import { ApiEndOther, ApiListSessions } from './openapi/session.js';
import { ReasonBodies } from './requests/reason-bodies.js';
import { SignIn } from './sign-in.js';

const list = new CursorList('/v1/admin/sessions', PageQuery);

/** The places where browsers are signed in. */
@ApiTags('Admin')
@Controller('v1/admin/sessions')
export class SessionsController {
  constructor(
    private readonly sessions: Sessions,
    private readonly keys: KeysService,
    private readonly signIn: SignIn,
    private readonly trail: AuditTrail,
    private readonly reasons: ReasonBodies,
    private readonly addresses: ClientAddress,
  ) {}

  @Get()
  @ApiListSessions()
  @Limited('observe', { needsKey: true })
  async listSessions(
    @Query() query: PageQuery,
    @CurrentCaller() caller: Caller,
    @Req() request: GuardedRequest,
    @Res() response: Response,
  ): Promise<void> {
    const call = list.call(query);
    const rows = await this.sessions.list({ before: call.after, limit: call.limit + 1 });
    const names = await this.keys.names(rows.map(({ keyId }) => keyId));
    const reply = list.reply(call, {
      rows,
      base: this.addresses.baseUrl(request),
      positionOf: ({ id }) => id,
      toView: ({ id, keyId, createdAt, expiresAt, address, userAgent }) => ({
        id,
        key_id: keyId,
        name: names.get(keyId) ?? null,
        address,
        user_agent: userAgent,
        created_at: createdAt,
        expires_at: expiresAt,
        is_current: id === caller.sessionId,
      }),
    });
    sendReply(response, reply);
  }

  @Delete(':session_id')
  @HttpCode(204)
  @ApiEndOther()
  @Limited('admin', { needsKey: true })
  async endOther(
    @Param('session_id') text: string,
    @Req() request: GuardedRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<void> {
    const reason = await this.reasons.read(request, response);
    const id = idOf('session', text);
    if (await this.signIn.endSession(this.trail.actorOf(request, request.caller), id, reason)) return;
    throw new DomainError('unknown_id', `There is no active session ${id}.`);
  }
}
