import { hostname } from 'node:os';
import {
  parseAddressList,
  parseBytes,
  parseChoice,
  parseDuration,
  parseInteger,
  parseOrigins,
  parseRateLimits,
  parseUrl,
} from './parsers.js';
import type { RateLimits } from './rate-limits.js';

export type Role = 'all' | 'api' | 'scheduler';

/** All settings of one process, read from the environment once and never again. */
export class Config {
  port = 3000;
  host = '127.0.0.1';
  /** A PostgreSQL 15 or newer; undefined: the embedded one in `dataDir`. */
  databaseUrl: string | undefined;
  /** A URL that by-passes a pooler, for LISTEN and migrations; undefined: `databaseUrl`. */
  databaseDirectUrl: string | undefined;
  /** Off behind a pooler that cannot keep prepared statements (PgBouncer before 1.21). */
  databasePreparedStatements = true;
  databasePoolSize = 10;
  dataDir = '.data';
  bootstrapApiKey: string | undefined;
  modelsFile = 'models.yaml';
  role: Role = 'all';
  publicBaseUrl: string | undefined;
  /** Express's `trust proxy`: false, a number of hops, or a list of addresses. */
  trustProxy: boolean | number | string[] = false;
  maxBodyBytes = 10 * 1024 * 1024;
  maxOutputBytes = 32 * 1024 * 1024;
  requestAccess: 'capability' | 'key' = 'capability';
  rateLimitSubmit: RateLimits = parseRateLimits('10/s,100/m');
  rateLimitOther: RateLimits = parseRateLimits('100/s,1800/m');
  rateLimitStatus: 403 | 429 = 403;
  shutdownGraceMs = 30_000;
  /** How long a completed request can be read; models may say otherwise. */
  retentionMs = 30 * 86_400_000;
  /** How long inputs and outputs are kept, if shorter; null: as long as the request. */
  retentionPayloadMs: number | null = null;
  logLevel = 'info';
  /** Origins that a browser may call from; empty: CORS is off. */
  corsOrigins: string[] = [];
  /** Recognises this process in the `node` table; not unique. */
  nodeName = `${hostname()}:${process.pid}`;
  /** The environment that `models.yaml` may refer to with `${NAME}`. */
  environment: Readonly<Record<string, string | undefined>> = {};
}

type Reader = (config: Config, value: string) => void;

/** One row a variable: how its text becomes a field. A parser throws with what it would have accepted. */
const readers: Record<string, Reader> = {
  PORT: (config, value) => (config.port = parseInteger(value, 0, 65_535)),
  HOST: (config, value) => (config.host = value),
  DATABASE_URL: (config, value) => (config.databaseUrl = parseUrl(value, ['postgres:', 'postgresql:'])),
  DATABASE_DIRECT_URL: (config, value) =>
    (config.databaseDirectUrl = parseUrl(value, ['postgres:', 'postgresql:'])),
  DATABASE_PREPARED_STATEMENTS: (config, value) =>
    (config.databasePreparedStatements = parseChoice(value, ['on', 'off']) === 'on'),
  DATABASE_POOL_SIZE: (config, value) => (config.databasePoolSize = parseInteger(value, 2, 200)),
  DATA_DIR: (config, value) => (config.dataDir = value),
  BOOTSTRAP_API_KEY: (config, value) => (config.bootstrapApiKey = parseApiKey(value)),
  MODELS_FILE: (config, value) => (config.modelsFile = value),
  ROLE: (config, value) => (config.role = parseChoice(value, ['all', 'api', 'scheduler'])),
  PUBLIC_BASE_URL: (config, value) =>
    (config.publicBaseUrl = parseUrl(value, ['http:', 'https:']).replace(/\/+$/, '')),
  TRUST_PROXY: (config, value) => (config.trustProxy = parseAddressList(value)),
  MAX_BODY_BYTES: (config, value) => (config.maxBodyBytes = parseBytes(value)),
  MAX_OUTPUT_BYTES: (config, value) => (config.maxOutputBytes = parseBytes(value)),
  REQUEST_ACCESS: (config, value) => (config.requestAccess = parseChoice(value, ['capability', 'key'])),
  RATE_LIMIT_SUBMIT: (config, value) => (config.rateLimitSubmit = parseRateLimits(value)),
  RATE_LIMIT_OTHER: (config, value) => (config.rateLimitOther = parseRateLimits(value)),
  RATE_LIMIT_STATUS: (config, value) =>
    (config.rateLimitStatus = parseChoice(value, ['403', '429']) === '403' ? 403 : 429),
  SHUTDOWN_GRACE: (config, value) => (config.shutdownGraceMs = parseDuration(value)),
  RETENTION: (config, value) => (config.retentionMs = parseDuration(value)),
  RETENTION_PAYLOAD: (config, value) => (config.retentionPayloadMs = parseDuration(value)),
  LOG_LEVEL: (config, value) =>
    (config.logLevel = parseChoice(value, ['silent', 'error', 'warn', 'info', 'debug', 'trace'])),
  CORS_ORIGINS: (config, value) => (config.corsOrigins = parseOrigins(value)),
  NODE_NAME: (config, value) => (config.nodeName = value),
};

/** Names every wrong variable at once, so that one restart is enough to mend them. Never shows a value. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

export function loadConfig(environment: Readonly<Record<string, string | undefined>> = process.env): Config {
  const config = new Config();
  config.environment = environment;
  const faults: string[] = [];
  for (const [name, read] of Object.entries(readers)) {
    const value = environment[name]?.trim();
    if (value === undefined || value === '') continue;
    try {
      read(config, value);
    } catch (error) {
      faults.push(`  ${name}: ${(error as Error).message}`);
    }
  }
  if (faults.length > 0) {
    throw new ConfigError(`These settings are wrong:\n${faults.join('\n')}`);
  }
  return config;
}

function parseApiKey(value: string): string {
  if (!/^[\x21-\x7e]{16,200}$/.test(value)) {
    throw new Error('expected 16 to 200 printable characters without spaces');
  }
  return value;
}
