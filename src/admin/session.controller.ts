import { Controller, Delete, Get, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import type { Caller } from '../auth/caller.js';
import { CurrentCaller, type GuardedRequest } from '../auth/current-caller.decorator.js';
import { sessionCookie } from '../auth/session-cookie.js';
import { BodyReader } from '../http/body-reader.js';
import { ClientAddress } from '../http/client-address.js';
import { Limited } from '../limits/limited.js';
import type { SessionDto } from './dto/session.dto.js';
import { Oidc } from './oidc/oidc.js';
import { ApiReadSession, ApiSignIn, ApiSignOut } from './openapi/session.js';
import { ReasonBodies } from './requests/reason-bodies.js';
import { SignIn } from './sign-in.js';

/** A browser's session. A key, or a link that works once, decides who signs in. */
@ApiTags('Admin')
@Controller('v1/admin/session')
export class SessionController {
  constructor(
    private readonly signIn: SignIn,
    private readonly oidc: Oidc,
    private readonly bodies: BodyReader,
    private readonly reasons: ReasonBodies,
    private readonly addresses: ClientAddress,
  ) {}

  @Get()
  @ApiReadSession()
  @Limited('any', { isOpen: true })
  async readSession(
    @CurrentCaller() caller: Caller | undefined,
    @Req() request: GuardedRequest,
  ): Promise<SessionDto> {
    const signed_in = caller === undefined ? null : await this.signIn.signedIn(caller);
    return { signed_in, oidc: this.oidc.offer(this.addresses.baseUrl(request)) };
  }

  @Post()
  @HttpCode(200)
  @ApiSignIn()
  @Limited('any', { isOpen: true })
  async beginSession(
    @Req() request: GuardedRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<SessionDto> {
    const base = this.addresses.baseUrl(request);
    const body = await this.bodies.read(request, response);
    const { token, signedIn } = await this.signIn.begin(request, body);
    response.setHeader('Set-Cookie', sessionCookie(token, base));
    return { signed_in: signedIn, oidc: this.oidc.offer(base) };
  }

  @Delete()
  @HttpCode(204)
  @ApiSignOut()
  @Limited('any', { needsKey: true })
  async endSession(
    @CurrentCaller() caller: Caller,
    @Req() request: GuardedRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<void> {
    await this.signIn.end(request, caller, await this.reasons.read(request, response));
    response.setHeader('Set-Cookie', sessionCookie(null, this.addresses.baseUrl(request)));
  }
}
