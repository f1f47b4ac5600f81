import { Injectable } from '@nestjs/common';
import type { Configuration, CustomFetch } from 'openid-client';
import { Config } from '../../../config/config.js';
import { Clock } from '../../../database/clock.js';
import { collect } from '../../../outgoing/answer-body.js';
import { Outgoing } from '../../../outgoing/outgoing.js';
import { Pieces } from '../../../tools/pieces.js';

const timeoutSeconds = 5;
const maxAnswerBytes = 1024 * 1024;
/** The provider's description of itself is read again after this time. */
const knownMs = 3_600_000;

type Library = typeof import('openid-client');

/** The provider of OIDC_ISSUER, as it describes itself. It is read only when somebody signs in. */
@Injectable()
export class OidcProvider {
  private readonly outgoing = new Outgoing({ mayRepeat: false });
  private known: { configuration: Promise<Configuration>; until: number } | undefined;

  constructor(
    private readonly config: Config,
    private readonly clock: Clock,
  ) {}

  async describe(): Promise<{ library: Library; configuration: Configuration }> {
    // Loaded only when it is used.
    const library = await import('openid-client');
    if (this.known === undefined || this.known.until < performance.now()) {
      const configuration = this.discover(library);
      this.known = { configuration, until: performance.now() + knownMs };
      configuration.catch(() => (this.known = undefined));
    }
    return { library, configuration: await this.known.configuration };
  }

  private async discover(library: Library): Promise<Configuration> {
    const { oidcIssuer, oidcClientId, oidcClientSecret } = this.config;
    const issuer = new URL(oidcIssuer!);
    const { customFetch, discovery, allowInsecureRequests, clockSkew, enableNonRepudiationChecks } = library;
    // Checks the signature of the ID token too, not only the connection that it came by.
    const execute = [enableNonRepudiationChecks];
    if (issuer.protocol === 'http:') execute.push(allowInsecureRequests);
    // The times of ID tokens are compared with the database's clock.
    const metadata = { client_secret: oidcClientSecret, [clockSkew]: -Math.round(this.clock.skewMs / 1_000) };
    return discovery(issuer, oidcClientId!, metadata, undefined, {
      execute,
      timeout: timeoutSeconds,
      [customFetch]: this.fetch,
    });
  }

  /** The function by which the library makes its calls. */
  private readonly fetch: CustomFetch = async (url, { method, headers, body, signal }) => {
    const answer = await this.outgoing.call({
      method,
      url,
      headers: { ...headers, 'accept-encoding': 'identity' },
      ...(body && { body: String(body as string | URLSearchParams) }),
      ...(signal !== undefined && { signal }),
    });
    const parts = new Pieces();
    if ((await collect(answer.body, maxAnswerBytes, parts)) > maxAnswerBytes)
      throw new Error(`the provider's answer is larger than ${maxAnswerBytes} bytes`);
    return new Response(Buffer.concat(parts.take()), {
      status: answer.status,
      headers: Object.entries(answer.headers).map(([name, value]): [string, string] => [name, String(value)]),
    });
  };
}
