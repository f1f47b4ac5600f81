import { Injectable, Logger } from '@nestjs/common';
import type { GuardedRequest } from '../../../auth/current-caller.decorator.js';
import { Sessions } from '../../../auth/sessions.js';
import { AuditTrail } from '../../../audit/audit-trail.js';
import { Config } from '../../../config/config.js';
import { DomainError } from '../../../errors/domain-error.js';
import { ClientAddress } from '../../../http/client-address.js';
import { isStorable } from '../../../tools/storable-text.js';
import type { OidcOfferDto } from '../sessions.dto.js';
import { type Begun, SignIn } from '../sign-in.js';
import { claimedName, claimedScopes } from './claimed-scopes.js';
import { type OidcState, OidcStates } from './oidc-state.js';
import { type OidcUser, OidcUsers } from './oidc-users.js';
import { OidcProvider } from './provider.js';

const path = '/v1/admin/session/oidc';

/**
 * Sign-in by OpenID Connect: authorization code, PKCE, state and nonce. A provider that is unreachable stops nothing
 * else.
 */
@Injectable()
export class Oidc {
  private readonly logger = new Logger(Oidc.name);

  constructor(
    private readonly config: Config,
    private readonly provider: OidcProvider,
    private readonly states: OidcStates,
    private readonly users: OidcUsers,
    private readonly signIn: SignIn,
    private readonly sessions: Sessions,
    private readonly trail: AuditTrail,
    private readonly addresses: ClientAddress,
  ) {}

  /** null: OpenID Connect is not set up. */
  offer(base: string): OidcOfferDto | null {
    const { oidcIssuer, oidcName } = this.config;
    return oidcIssuer === undefined ? null : { name: oidcName ?? new URL(oidcIssuer).host, url: base + path };
  }

  /** Returns where to send the browser, and the cookie that it needs to come back. */
  async begin(base: string): Promise<{ url: string; cookie: string }> {
    this.assertSetUp();
    const { library, configuration } = await this.describe();
    const state: OidcState = {
      state: library.randomState(),
      nonce: library.randomNonce(),
      verifier: library.randomPKCECodeVerifier(),
    };
    const url = library.buildAuthorizationUrl(configuration, {
      redirect_uri: `${base}${path}/callback`,
      scope: this.config.oidcRequest,
      state: state.state,
      nonce: state.nonce,
      code_challenge: await library.calculatePKCECodeChallenge(state.verifier),
      code_challenge_method: 'S256',
    });
    return { url: url.href, cookie: await this.states.cookie(state, base) };
  }

  /** Makes a session of what the browser brings back from the provider. */
  async end(request: GuardedRequest): Promise<Begun> {
    this.assertSetUp();
    const base = this.addresses.baseUrl(request);
    const state = await this.states.read(request.headers.cookie, base);
    const user = state === undefined ? notBegun() : await this.exchange(request, base, state);
    const begun = await this.signIn.beginAs(request, 'oidc', async (manager) => {
      if (user instanceof DomainError) throw user;
      const actor = { ...this.trail.actorOf(request, undefined), name: user.name };
      return this.users.keyOf(manager, actor, user);
    });
    // The scopes of the person may have changed, for their other sessions as well.
    this.sessions.lookAgain();
    return begun;
  }

  /** Returns who the person is by the provider, or the error that refuses them. */
  private async exchange(
    request: GuardedRequest,
    base: string,
    { state, nonce, verifier }: OidcState,
  ): Promise<OidcUser | DomainError> {
    const { library, configuration } = await this.describe();
    const query = request.originalUrl.split('?', 2)[1] ?? '';
    try {
      const tokens = await library.authorizationCodeGrant(
        configuration,
        new URL(`${base}${path}/callback?${query}`),
        { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true },
      );
      const claims = { ...tokens.claims()! } as Record<string, unknown> & { iss: string; sub: string };
      const { oidcScopesClaim, oidcScopes } = this.config;
      let all: Record<string, unknown> = claims;
      let scopes = claimedScopes(claims, oidcScopesClaim, oidcScopes);
      if (scopes === undefined && configuration.serverMetadata().userinfo_endpoint !== undefined) {
        all = { ...(await library.fetchUserInfo(configuration, tokens.access_token, claims.sub)), ...claims };
        scopes = claimedScopes(all, oidcScopesClaim, oidcScopes);
      }
      const name = claimedName(all);
      // If it were changed, it might be the name of somebody else.
      if (!isStorable(claims.sub))
        return refused(
          `The claim "sub" of ${name} contains NUL or half of a surrogate pair, which cannot be stored.`,
        );
      if (scopes === undefined || scopes.length === 0)
        return refused(
          `The claim "${oidcScopesClaim}" of ${name} grants no scope. The operator maps its values in OIDC_SCOPES.`,
        );
      return { subject: `${claims.iss} ${claims.sub}`, name, scopes };
    } catch (error) {
      this.logger.warn({ err: error }, 'a sign-in by OpenID Connect failed');
      return refused(
        'The provider refused the sign-in, or its answer belongs to another one. Sign in again.',
      );
    }
  }

  private async describe() {
    try {
      return await this.provider.describe();
    } catch (cause) {
      this.logger.warn({ err: cause }, 'the OpenID Connect provider cannot be reached');
      throw new DomainError('unavailable', 'The provider cannot be reached. Try again, or use a key.', {
        cause,
      });
    }
  }

  private assertSetUp(): void {
    if (this.config.oidcIssuer === undefined)
      throw new DomainError('unknown_id', 'Sign-in by OpenID Connect is not set up here.');
  }
}

const notBegun = (): DomainError =>
  refused('This sign-in was started in another browser, or more than 10 minutes ago. Sign in again.');

const refused = (detail: string): DomainError => new DomainError('sign_in_refused', detail);
