import { Controller, Delete, Get, HttpCode, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Actor } from '../audit/actor.decorator.js';
import { Reason } from '../audit/reason.js';
import type { Caller } from '../auth/caller.js';
import { CurrentCaller } from '../auth/current-caller.decorator.js';
import { KeysService } from '../auth/keys.service.js';
import { Sessions } from '../auth/sessions.js';
import { BaseUrl, Id } from '../http/input/decorators.js';
import { sendReply } from '../http/reply.js';
import { CursorList, PageQuery } from './cursor-page.js';
import { ApiEndOther, ApiListSessions } from './openapi/session.js';
import { Operators } from './operators.js';
import { SignIn } from './sign-in.js';

const list = new CursorList('/v1/admin/sessions', PageQuery);

/** The places where browsers are signed in. */
@Controller('v1/admin/sessions')
export class SessionsController {
  constructor(
    private readonly sessions: Sessions,
    private readonly keys: KeysService,
    private readonly signIn: SignIn,
  ) {}

  @Get()
  @ApiListSessions()
  @Operators('observe')
  async listSessions(
    @Query() query: PageQuery,
    @CurrentCaller() caller: Caller,
    @BaseUrl() base: string,
    @Res() response: Response,
  ): Promise<void> {
    const call = list.call(query);
    const rows = await this.sessions.list({ before: call.after, limit: call.limit + 1 });
    const names = await this.keys.names(rows.map(({ keyId }) => keyId));
    const reply = list.reply(call, {
      rows,
      base,
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
  @Operators('admin')
  endOther(
    @Actor() actor: Actor,
    @Id('session') id: string,
    @Reason() reason: string | undefined,
  ): Promise<void> {
    return this.signIn.endOther(actor, id, reason);
  }
}
