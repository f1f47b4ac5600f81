import { Injectable } from '@nestjs/common';
import type { Configuration } from 'openid-client';
import { Config } from '../../../config/config.js';
import { Clock } from '../../../database/clock.js';

const timeoutSeconds = 5;
/** The provider's description of itself is read again after this time. */
const knownMs = 3_600_000;

type Library = typeof import('openid-client');

/** The provider of OIDC_ISSUER, as it describes itself. It is read only when somebody signs in. */
@Injectable()
export class OidcProvider {
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
    const { discovery, allowInsecureRequests, clockSkew, enableNonRepudiationChecks } = library;
    // Checks the signature of the ID token too, not only the connection that it came by.
    const execute = [enableNonRepudiationChecks];
    if (issuer.protocol === 'http:') execute.push(allowInsecureRequests);
    // The times of ID tokens are compared with the database's clock.
    const metadata = { client_secret: oidcClientSecret, [clockSkew]: -Math.round(this.clock.skewMs / 1_000) };
    return discovery(issuer, oidcClientId!, metadata, undefined, {
      execute,
      timeout: timeoutSeconds,
    });
  }
}
