import { Config, loadConfig } from './config.js';
import { parseOrigins } from './parsers.js';

it('uses the defaults for unset and blank variables', () => {
  const { environment, ...config } = loadConfig({ PORT: '  ', ROLE: undefined });
  const { environment: _none, ...defaults } = new Config();
  expect(config).toEqual(defaults);
  expect(environment).toEqual({ PORT: '  ', ROLE: undefined });
});

it.each<[string, string, Partial<Config>]>([
  ['PORT', ' 0 ', { port: 0 }],
  ['DATABASE_URL', 'postgres:///queue?host=/run', { databaseUrl: 'postgres:///queue?host=/run' }],
  ['DATABASE_PREPARED_STATEMENTS', 'OFF', { databasePreparedStatements: false }],
  ['BOOTSTRAP_API_KEY', 'k'.repeat(16), { bootstrapApiKey: 'k'.repeat(16) }],
  ['ROLE', 'API', { role: 'api' }],
  ['PUBLIC_BASE_URL', 'https://queue.example//', { publicBaseUrl: 'https://queue.example' }],
  ['PUBLIC_BASE_URL', 'HTTPS://Queue.Example:443/Api/', { publicBaseUrl: 'https://queue.example/Api' }],
  ['S3_ENDPOINT', 'HTTP://Store.Example:9000', { s3Endpoint: 'http://store.example:9000' }],
  ['TRUST_PROXY', 'loopback, 10.0.0.0/8', { trustProxy: ['loopback', '10.0.0.0/8'] }],
  ['MAX_BODY_BYTES', '2m', { maxBodyBytes: 2 * 1024 ** 2 }],
  ['RATE_LIMIT_SUBMIT', 'off', { rateLimitSubmit: [] }],
  ['RATE_LIMIT_STATUS', '429', { rateLimitStatus: 429 }],
  ['ADAPTERS', ' FAL ', { adapters: ['fal'] }],
  ['SHUTDOWN_DELAY', '0s', { shutdownDelayMs: 0 }],
  ['SHUTDOWN_GRACE', '5', { shutdownGraceMs: 5_000 }],
  // A timer of more than 24 days would fire at once.
  ['SHUTDOWN_GRACE', '25d', { shutdownGraceMs: 2 ** 31 - 1 }],
  ['KEEP_ALIVE_TIMEOUT', '620s', { keepAliveTimeoutMs: 620_000 }],
  ['RETENTION', '36500d', { retentionMs: 36_500 * 86_400_000 }],
  ['RETENTION_PAYLOAD', '12h', { retentionPayloadMs: 43_200_000 }],
  [
    'CORS_ORIGINS',
    'https://a.example, https://b.example',
    { corsOrigins: ['https://a.example', 'https://b.example'] },
  ],
])('reads %s=%s', (name, text, fields) => expect(loadConfig({ [name]: text })).toMatchObject(fields));

it.each([
  ['PORT', '65536', 'expected a whole number from 0 to 65535'],
  ['PORT', '0x10', 'expected a whole number from 0 to 65535'],
  ['DATABASE_POOL_SIZE', '1', 'expected a whole number from 2 to 200'],
  ['DATABASE_URL', 'mysql://root:hush@a/b', 'expected a URL that begins with postgres:// or postgresql://'],
  ['DATABASE_PREPARED_STATEMENTS', 'yes', 'expected one of on, off'],
  ['BOOTSTRAP_API_KEY', 'hush hush hush hush', 'expected 16 to 200 printable characters without spaces'],
  ['ROLE', 'boss', 'expected one of all, api, scheduler'],
  ['PUBLIC_BASE_URL', 'https://queue.example/?a', 'expected a URL without a query (?) and a fragment (#)'],
  ['PUBLIC_BASE_URL', 'https://queue.example/#a', 'expected a URL without a query (?) and a fragment (#)'],
  ['S3_ENDPOINT', 'https://store.example?', 'expected a URL without a query (?) and a fragment (#)'],
  [
    'TRUST_PROXY',
    'proxy',
    'expected true, false, a number of hops, or addresses such as loopback,10.0.0.0/8',
  ],
  [
    'TRUST_PROXY',
    '10.0.0.0/33',
    'expected true, false, a number of hops, or addresses such as loopback,10.0.0.0/8',
  ],
  ['TRUST_PROXY', 'dead', 'expected true, false, a number of hops, or addresses such as loopback,10.0.0.0/8'],
  ['MAX_OUTPUT_BYTES', '1g', 'expected a size from 1 to 256m, such as 10485760, 512k or 10m'],
  ['RATE_LIMIT_OTHER', '5/d', 'expected limits such as 10/s,100/m (per s, m or h), or off'],
  ['RATE_LIMIT_STATUS', '500', 'expected one of 403, 429'],
  [
    'ADAPTERS',
    'fal,other',
    'expected adapters separated by commas, of these: fal, openai, replicate, runpod',
  ],
  ['RETENTION', 'long', 'expected a duration such as 250ms, 30s, 10m, 1h or 30d'],
])('refuses %s=%s and states the expected format, never the value', (name, text, message) =>
  expect(() => loadConfig({ [name]: text })).toThrow(`These settings are wrong:\n  ${name}: ${message}`),
);

it('names all wrong variables at once', () => {
  expect(() => loadConfig({ ROLE: 'boss', PORT: 'x', RETENTION: 'y' })).toThrow(
    /PORT: .*\n.*ROLE: .*\n.*RETENTION: /,
  );
});

it('names wrong settings and missing companion settings in one message', () => {
  expect(() => loadConfig({ LOG_LEVEL: 'loud', OIDC_ISSUER: 'https://login.example' })).toThrow(
    /LOG_LEVEL: .*\n.*OIDC_CLIENT_ID: .*\n.*OIDC_SCOPES: /,
  );
});

it('refuses DATABASE_DIRECT_URL without DATABASE_URL', () => {
  const direct = { DATABASE_DIRECT_URL: 'postgres://host/queue' };
  expect(() => loadConfig(direct)).toThrow('wrong:\n  DATABASE_URL: required with DATABASE_DIRECT_URL');
  expect(loadConfig({ ...direct, DATABASE_URL: 'postgres://pooler/queue' })).toMatchObject({
    databaseUrl: 'postgres://pooler/queue',
    databaseDirectUrl: 'postgres://host/queue',
  });
});

it.each([
  ['https://app.example.org', ['https://app.example.org']],
  ['http://localhost:5173, https://a.example', ['http://localhost:5173', 'https://a.example']],
  ['http://127.0.0.1:8080', ['http://127.0.0.1:8080']],
  ['http://[::1]:8080', ['http://[::1]:8080']],
  ['*', ['*']],
])('%s are origins', (value, origins) => expect(parseOrigins(value)).toEqual(origins));

it.each([
  'localhost:5202',
  'app.example.org',
  'http://localhost:5202/',
  'https://app.example.org/path',
  'https://app.example.org?a',
  'http://*.example.org',
  'https://*',
  '*, https://app.example.org',
  'https://APP.example.org',
  'https://app.example.org:443',
  'https://user@app.example.org',
  'ftp://app.example.org',
  'null',
  'https://a.example https://b.example',
])('%s never matches the origin that a browser sends, and is refused with an example', (value) =>
  expect(() => parseOrigins(value)).toThrow(/such as https:\/\/app\.example\.org/),
);
