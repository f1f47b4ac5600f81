import { hostname } from 'node:os';
import { type DynamicModule, Global, Module } from '@nestjs/common';
import { Expose, Transform } from 'class-transformer';
import { Matches } from 'class-validator';
import { Redaction } from '../tools/redaction.js';
import { allOf, OneOf, Parsed, toInstance, WholeNumber } from '../tools/validation.js';
import { parseDuration } from '../tools/duration.js';
import type { Adapter } from './adapter.js';
import { type AllowedAddress, parseAllowedAddresses } from './allowed-addresses.js';
import {
  parseAdapters,
  parseAddressList,
  parseBytes,
  parseFileBytes,
  parseFiles,
  parseManyBytes,
  type FilesSetting,
  parseOrigins,
  parseRateLimits,
  parseStoredBytes,
  parseSwitch,
  parseTimer,
  parseDatabaseUrl,
  parseBaseUrl,
  parsePlainUrl,
} from './parsers.js';
import type { RateLimits } from './rate-limits.js';
import { parseScopeMap, type ScopeMap } from './scopes.js';
import { withSecretFiles } from './secret-files.js';
import { parseSecretsKey, parseWebhookSecret } from './secrets.js';

export type Role = 'all' | 'api' | 'scheduler';

const keyMessage = 'expected 16 to 200 printable characters without spaces';

/** The environment variable of each field. */
const variables = new Map<string | symbol, string>();

/** All settings of one process. They are read from the environment once, at the start. */
export class Config {
  @Setting('PORT', Numeric(), WholeNumber(0, 65_535)) port = 3000;
  @Setting('HOST') host = '127.0.0.1';
  /** A PostgreSQL 15 or newer. undefined: the embedded one in `dataDir`. */
  @Setting('DATABASE_URL', Parsed(parseDatabaseUrl)) databaseUrl: string | undefined;
  /** A URL that bypasses a pooler, for LISTEN and migrations. undefined: `databaseUrl`. */
  @Setting('DATABASE_DIRECT_URL', Parsed(parseDatabaseUrl)) databaseDirectUrl: string | undefined;
  /** Must be off behind a pooler that cannot keep prepared statements (PgBouncer before 1.21). */
  @Setting('DATABASE_PREPARED_STATEMENTS', Parsed(parseSwitch)) databasePreparedStatements = true;
  /** False: a start applies no migrations, and refuses a schema that lacks one. */
  @Setting('MIGRATE', Parsed(parseSwitch)) migrate = true;
  @Setting('DATABASE_POOL_SIZE', Numeric(), WholeNumber(2, 200)) databasePoolSize = 10;
  @Setting('DATA_DIR') dataDir = '.data';

  @Setting('BOOTSTRAP_API_KEY', Matches(/^[\x21-\x7e]{16,200}$/, { message: keyMessage }))
  bootstrapApiKey: string | undefined;

  @Setting('MODELS_FILE') modelsFile = 'models.yaml';
  @Setting('ROLE', Lowercase(), OneOf('all', 'api', 'scheduler')) role: Role = 'all';

  @Setting('PUBLIC_BASE_URL', Parsed(parseBaseUrl)) publicBaseUrl: string | undefined;

  @Setting('TRUST_PROXY', Parsed(parseAddressList)) trustProxy: boolean | number | string[] = false;
  @Setting('MAX_BODY_BYTES', Parsed(parseBytes)) maxBodyBytes = 10 * 1024 * 1024;
  @Setting('MAX_OUTPUT_BYTES', Parsed(parseBytes)) maxOutputBytes = 32 * 1024 * 1024;
  /** Limit of an upload, and of a model's answer that is stored as a file. */
  @Setting('MAX_FILE_BYTES', Parsed(parseFileBytes)) maxFileBytes = 1024 ** 3;
  /** Bytes that one caller may hold in this node's memory: inflated bodies, and answers that it has not read. */
  @Setting('MAX_CALLER_BYTES', Parsed(parseManyBytes)) maxCallerBytes = 64 * 1024 ** 2;
  /** The same limit for all callers together. */
  @Setting('MAX_NODE_BYTES', Parsed(parseManyBytes)) maxNodeBytes = 512 * 1024 ** 2;
  /** Open streams and long polls of one caller on this node. */
  @Setting('MAX_CALLER_STREAMS', Numeric(), WholeNumber(1, 1_000_000)) maxCallerStreams = 1_000;
  /** The same limit for all callers together. */
  @Setting('MAX_NODE_STREAMS', Numeric(), WholeNumber(1, 1_000_000)) maxNodeStreams = 20_000;
  /** Bytes of a key's stored files. At this limit, the key may not upload more. */
  @Setting('MAX_STORED_BYTES', Parsed(parseStoredBytes)) maxStoredBytes = 20 * 1024 ** 3;
  @Setting('MAX_STORED_FILES', Numeric(), WholeNumber(1, 100_000_000)) maxStoredFiles = 100_000;
  /** Bytes of `dataDir`'s disk that files must leave free for the database. */
  @Setting('RESERVED_DISK', Parsed(parseStoredBytes)) reservedDiskBytes = 2 * 1024 ** 3;
  /** Where files are stored: below `dataDir`, or in a bucket. */
  @Setting('FILES', Parsed(parseFiles)) files: FilesSetting = { kind: 'disk' };
  /** Endpoint of a store other than Amazon's. Its buckets are then named in the path. */
  @Setting('S3_ENDPOINT', Parsed(parseBaseUrl)) s3Endpoint: string | undefined;

  @Setting('REQUEST_ACCESS', Lowercase(), OneOf('capability', 'key'))
  requestAccess: 'capability' | 'key' = 'capability';

  /** `key`: reading /metrics requires a key with the scope observe; `open`: it requires none. */
  @Setting('METRICS_ACCESS', Lowercase(), OneOf('key', 'open')) metricsAccess: 'key' | 'open' = 'key';

  @Setting('RATE_LIMIT_SUBMIT', Parsed(parseRateLimits))
  rateLimitSubmit: RateLimits = parseRateLimits('10/s,100/m');

  @Setting('RATE_LIMIT_OTHER', Parsed(parseRateLimits))
  rateLimitOther: RateLimits = parseRateLimits('100/s,1800/m');

  /** Limits for the entries of batch calls and the lines of batch files. */
  @Setting('RATE_LIMIT_BATCH', Parsed(parseRateLimits))
  rateLimitBatch: RateLimits = parseRateLimits('2000/s,50000/m');

  @Setting('RATE_LIMIT_STATUS', Numeric(), OneOf(403, 429)) rateLimitStatus: 403 | 429 = 403;
  /** True if the console is served. */
  @Setting('CONSOLE', Parsed(parseSwitch)) console = true;
  /** How long calls are still served after a SIGTERM, while proxies turn to other nodes. */
  @Setting('SHUTDOWN_DELAY', Parsed(parseTimer)) shutdownDelayMs = 5_000;
  @Setting('SHUTDOWN_GRACE', Parsed(parseTimer)) shutdownGraceMs = 30_000;
  /**
   * How long an idle connection stays open. The default is longer than what nginx, Traefik and ALB (60 to 90 s) and
   * Caddy (120 s) keep, because the proxy must be the one that closes it.
   */
  @Setting('KEEP_ALIVE_TIMEOUT', Parsed(parseTimer)) keepAliveTimeoutMs = 150_000;
  /** How long a completed request can be read. A model may override it. */
  @Setting('RETENTION', Parsed(parseDuration)) retentionMs = 30 * 86_400_000;
  /** How long inputs and outputs are kept, if shorter. null: as long as the request. */
  @Setting('RETENTION_PAYLOAD', Parsed(parseDuration)) retentionPayloadMs: number | null = null;

  @Setting('LOG_LEVEL', Lowercase(), OneOf('silent', 'error', 'warn', 'info', 'debug', 'trace'))
  logLevel = 'info';

  /** `auto`: readable on a terminal, JSON elsewhere. */
  @Setting('LOG_FORMAT', Lowercase(), OneOf('auto', 'json', 'pretty'))
  logFormat: 'auto' | 'json' | 'pretty' = 'auto';

  @Setting('ADAPTERS', Parsed(parseAdapters)) adapters: Adapter[] = [];
  /** Origins that browsers may call from. Empty: CORS is off. */
  @Setting('CORS_ORIGINS', Parsed(parseOrigins)) corsOrigins: string[] = [];
  /** Allowed webhook addresses besides https to public addresses. */
  @Setting('WEBHOOK_ALLOW', Parsed(parseAllowedAddresses)) webhookAllow: readonly AllowedAddress[] = [];
  /** Signs the webhooks of keys without their own secret. undefined: each key gets its own. */
  @Setting('WEBHOOK_SECRET', Parsed(parseWebhookSecret)) webhookSecret: string | undefined;
  /** Encrypts secrets in the database. undefined: they are stored unencrypted. */
  @Setting('SECRETS_KEY', Parsed(parseSecretsKey)) secretsKey: Buffer | undefined;
  /** The OpenID Connect provider for sign-ins. undefined: people sign in with a key only. */
  @Setting('OIDC_ISSUER', Parsed(parsePlainUrl))
  oidcIssuer: string | undefined;

  @Setting('OIDC_CLIENT_ID') oidcClientId: string | undefined;
  /** undefined: the client is public. */
  @Setting('OIDC_CLIENT_SECRET') oidcClientSecret: string | undefined;
  /** The label of the provider's button. undefined: the issuer's host. */
  @Setting('OIDC_NAME') oidcName: string | undefined;
  /** The OpenID Connect scopes to request. */
  @Setting('OIDC_REQUEST') oidcRequest = 'openid profile email';
  /** The claim whose values determine a user's scopes. Dots lead into nested objects. */
  @Setting('OIDC_SCOPES_CLAIM') oidcScopesClaim = 'groups';
  /** The scopes of each value. A user without any is refused. */
  @Setting('OIDC_SCOPES', Parsed(parseScopeMap)) oidcScopes: ScopeMap = new Map();

  /** Identifies this process in the `node` table; not unique. */
  @Setting('NODE_NAME') nodeName = `${hostname()}:${process.pid}`;

  /** The environment, with the secrets that are in files: `models.yaml` may refer to it with `${NAME}`, and it has OpenTelemetry's settings. */
  environment: Readonly<Record<string, string | undefined>> = {};
}

function Setting(name: string, ...rules: PropertyDecorator[]): PropertyDecorator {
  return allOf(Expose({ name }), ...rules, (_, property) => variables.set(property, name));
}

function Numeric(): PropertyDecorator {
  return Transform(({ value }: { value: string }) => (/^\d+$/.test(value) ? Number(value) : value));
}

function Lowercase(): PropertyDecorator {
  return Transform(({ value }: { value: string }) => value.toLowerCase());
}

@Global()
@Module({})
export class ConfigModule {
  static register(config: Config): DynamicModule {
    return { module: ConfigModule, providers: [{ provide: Config, useValue: config }], exports: [Config] };
  }
}

/** Names every wrong variable at once, so that one restart is enough to fix them. Never shows a value. */
export class ConfigError extends Error {}

/** Returns the settings that are missing although another setting requires them. */
function missingBeside(
  { databaseUrl, databaseDirectUrl, oidcIssuer, oidcClientId, oidcScopes, files }: Config,
  environment: Config['environment'],
): string[] {
  // Otherwise the service would migrate one database and serve another.
  const ofPooler =
    databaseDirectUrl !== undefined && databaseUrl === undefined
      ? ['  DATABASE_URL: required with DATABASE_DIRECT_URL']
      : [];
  const ofBucket = files.kind === 's3' ? ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'] : [];
  const missing = ofBucket.filter((name) => !environment[name]?.trim());
  const lines = [...ofPooler, ...missing.map((name) => `  ${name}: required with FILES=s3://…`)];
  if (oidcIssuer === undefined) return lines;
  return [
    ...lines,
    ...(oidcClientId === undefined ? ['  OIDC_CLIENT_ID: required with OIDC_ISSUER'] : []),
    ...(oidcScopes.size === 0
      ? ['  OIDC_SCOPES: required with OIDC_ISSUER, such as ops=admin; without it nobody could sign in']
      : []),
  ];
}

/** Returns an error text for printing, without parts of settings that drivers and parsers quote. */
export function redacted(text: string, environment: Config['environment'] = process.env): string {
  return new Redaction(withSecretFiles(environment).environment).secrets(text);
}

export function loadConfig(variablesAndFiles: Config['environment'] = process.env): Config {
  const { environment, faults: faultsOfFiles } = withSecretFiles(variablesAndFiles);
  const texts = Object.entries(environment).map(([name, text]) => [name, text?.trim() || undefined]);
  const { instance, faults } = toInstance(Config, Object.fromEntries(texts) as object, { exposedOnly: true });
  const lines = [
    ...faultsOfFiles.map((fault) => `  ${fault}`),
    ...faults.map(({ property, message }) => `  ${variables.get(property)}: ${message}`),
    ...missingBeside(instance, environment),
  ];
  if (lines.length > 0) {
    throw new ConfigError(`These settings are wrong:\n${lines.join('\n')}`);
  }
  return Object.assign(instance, { environment });
}
