import { Controller, Delete, Get, HttpCode } from '@nestjs/common';
import { Actor } from '../../audit/actor.decorator.js';
import { Reason } from '../../audit/reason.js';
import type { Caller } from '../../auth/caller.js';
import { CurrentCaller } from '../../auth/current-caller.decorator.js';
import { Id } from '../../http/input/decorators.js';
import { type Page, PageOf, PageQuery } from '../../http/input/page.js';
import type { AdminSessionPageDto } from './sessions.dto.js';
import { ApiEndOther, ApiListSessions } from './sessions.docs.js';
import { Operators } from '../operators.js';
import { SignIn } from './sign-in.js';

/** The places where browsers are signed in. */
@Controller('v1/admin/sessions')
export class SessionsController {
  constructor(private readonly signIn: SignIn) {}

  @Get()
  @ApiListSessions
  @Operators('observe')
  listSessions(
    @PageOf(PageQuery) page: Page<PageQuery>,
    @CurrentCaller() caller: Caller,
  ): Promise<AdminSessionPageDto> {
    return this.signIn.list(page, caller);
  }

  @Delete(':session_id')
  @HttpCode(204)
  @ApiEndOther
  @Operators('admin')
  endListedSession(
    @Actor() actor: Actor,
    @Id('session') id: string,
    @Reason() reason: string | undefined,
  ): Promise<void> {
    return this.signIn.endOther(actor, id, reason);
  }
}
