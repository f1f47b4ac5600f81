import { Controller, Delete, Get, HttpCode, Post, Req, Res, UseGuards } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Actor } from '../../audit/actor.decorator.js';
import { Reason } from '../../audit/reason.js';
import type { Caller } from '../../auth/caller.js';
import { CurrentCaller, type GuardedRequest } from '../../auth/current-caller.decorator.js';
import { sessionCookie } from '../../auth/session-cookie.js';
import { BaseUrl, JsonBody } from '../../http/input/decorators.js';
import { Limited } from '../../limits/limited.js';
import { type SessionDto, SignInDto } from './sessions.dto.js';
import { Oidc } from './oidc/oidc.js';
import { ApiReadSession, ApiSignIn, ApiSignOut } from './sessions.docs.js';
import { OwnPageGuard, SignIn } from './sign-in.js';

/** A browser's session. A key, or a link that works once, decides who signs in. */
@ApiTags('Admin')
@Controller('v1/admin/session')
export class SessionController {
  constructor(
    private readonly signIn: SignIn,
    private readonly oidc: Oidc,
  ) {}

  @Get()
  @ApiReadSession
  @Limited('any', { isOpen: true })
  async readSession(
    @CurrentCaller() caller: Caller | undefined,
    @BaseUrl() base: string,
  ): Promise<SessionDto> {
    const signed_in = caller === undefined ? null : await this.signIn.signedIn(caller);
    return { signed_in, oidc: this.oidc.offer(base) };
  }

  @Post()
  @HttpCode(200)
  @ApiSignIn
  @UseGuards(OwnPageGuard)
  @Limited('any', { isOpen: true })
  async beginSession(
    @JsonBody(SignInDto) credentials: SignInDto,
    @BaseUrl() base: string,
    @Req() request: GuardedRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<SessionDto> {
    const { token, signedIn } = await this.signIn.begin(request, credentials);
    response.setHeader('Set-Cookie', sessionCookie(token, base));
    return { signed_in: signedIn, oidc: this.oidc.offer(base) };
  }

  @Delete()
  @HttpCode(204)
  @ApiSignOut
  @Limited('any', { needsKey: true })
  async endSession(
    @CurrentCaller() caller: Caller,
    @Actor() actor: Actor,
    @Reason() reason: string | undefined,
    @BaseUrl() base: string,
    @Res({ passthrough: true }) response: Response,
  ): Promise<void> {
    await this.signIn.end(actor, caller, reason);
    response.setHeader('Set-Cookie', sessionCookie(null, base));
  }
}
