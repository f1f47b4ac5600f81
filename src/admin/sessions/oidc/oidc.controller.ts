import { Controller, Get, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import type { GuardedRequest } from '../../../auth/current-caller.decorator.js';
import { sessionCookie } from '../../../auth/session-cookie.js';
import { DomainError } from '../../../errors/domain-error.js';
import { BaseUrl } from '../../../http/input/decorators.js';
import { Limited } from '../../../limits/limited.js';
import { ApiBeginOidc, ApiEndOidc } from '../sessions.docs.js';
import { Oidc } from './oidc.js';
import { OidcStates } from './oidc-state.js';

/** The browser itself comes here and is redirected. The console shows a failure, so it is not answered as a problem. */
@ApiTags('Admin')
@Controller('v1/admin/session/oidc')
export class OidcController {
  constructor(
    private readonly oidc: Oidc,
    private readonly states: OidcStates,
  ) {}

  @Get()
  @ApiBeginOidc
  @Limited('any', { isOpen: true })
  async beginOidc(@BaseUrl() base: string, @Res() response: Response): Promise<void> {
    try {
      const { url, cookie } = await this.oidc.begin(base);
      response.setHeader('Set-Cookie', cookie);
      response.redirect(302, url);
    } catch (error) {
      response.redirect(302, consoleUrl(base, error));
    }
  }

  @Get('callback')
  @ApiEndOidc
  @Limited('any', { isOpen: true })
  async endOidc(
    @BaseUrl() base: string,
    @Req() request: GuardedRequest,
    @Res() response: Response,
  ): Promise<void> {
    try {
      const { token } = await this.oidc.end(request);
      response.setHeader('Set-Cookie', [sessionCookie(token, base), this.states.spent(base)]);
      response.redirect(302, `${base}/console`);
    } catch (error) {
      const url = consoleUrl(base, error);
      response.setHeader('Set-Cookie', this.states.spent(base));
      response.redirect(302, url);
    }
  }
}

function consoleUrl(base: string, error: unknown): string {
  if (!(error instanceof DomainError) || error.code === 'unknown_id') throw error;
  return `${base}/console#sign-in=${error.code === 'unavailable' ? 'failed' : 'refused'}`;
}
