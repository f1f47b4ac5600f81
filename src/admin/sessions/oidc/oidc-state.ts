import { Injectable } from '@nestjs/common';
import { cookieName, cookieOf } from '../../../auth/session-cookie.js';
import { ServiceSecrets } from '../../../auth/service-secrets.js';
import { Clock } from '../../../database/clock.js';
import { open, seal } from '../../../tools/secret-box.js';

/** The time that a person may spend at the provider. */
const lifeMs = 10 * 60_000;
const name = 'nowserving_oidc';

/** The state of a sign-in under way. Only the browser that began it can end it. */
export interface OidcState {
  state: string;
  nonce: string;
  verifier: string;
}

/**
 * The browser keeps the state, sealed, so that any node can continue. The cookie is Lax, because the provider sends the
 * browser back from another site. Under TLS it is bound to the host.
 */
@Injectable()
export class OidcStates {
  private key: Promise<Buffer> | undefined;

  constructor(
    private readonly secrets: ServiceSecrets,
    private readonly clock: Clock,
  ) {}

  async cookie(state: OidcState, baseUrl: string): Promise<string> {
    const sealed = seal(
      await this.secret(),
      JSON.stringify({ ...state, until: this.clock.now() + lifeMs }),
      name,
    );
    return `${fields(sealed.toString('base64url'), baseUrl)}; Max-Age=${lifeMs / 1_000}`;
  }

  spent(baseUrl: string): string {
    return `${fields('', baseUrl)}; Max-Age=0`;
  }

  /** undefined: the browser sends none, or one that is expired or forged. */
  async read(cookies: string | undefined, baseUrl: string): Promise<OidcState | undefined> {
    const text = cookieOf(cookies, cookieName(name, baseUrl));
    if (text === undefined) return undefined;
    try {
      const opened = open(await this.secret(), Buffer.from(text, 'base64url'), name);
      const { until, ...state } = JSON.parse(opened) as OidcState & { until: number };
      return until > this.clock.now() ? state : undefined;
    } catch {
      return undefined;
    }
  }

  private secret(): Promise<Buffer> {
    return (this.key ??= this.secrets.of(name).catch((error: unknown) => {
      this.key = undefined;
      throw error;
    }));
  }
}

function fields(value: string, baseUrl: string): string {
  const secure = baseUrl.startsWith('https:') ? '; Secure' : '';
  return `${cookieName(name, baseUrl)}=${value}; Path=/; HttpOnly; SameSite=Lax${secure}`;
}
