import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NestExpressApplication } from '@nestjs/platform-express';
import pg from 'pg';
import { Config } from '../../src/config/config.js';
import { parseRateLimits } from '../../src/config/parsers.js';
import { startService } from '../../src/service.js';
import { createTestDatabase } from './test-database.js';
import { until } from './until.js';

export interface TestServiceOptions {
  /** Limits of submissions and of all other calls, as in RATE_LIMIT_SUBMIT. Default: the shipped ones. */
  limits?: string;
  config?: Partial<Config>;
  /** The text of a models.yaml. Default: the shipped one with the demos. */
  models?: string;
}

export interface TestService {
  url: string;
  databaseUrl: string;
  /** A valid key with all scopes. */
  key: string;
  config: Config;
  app: NestExpressApplication;
  /** Sends the key. */
  submit(model: string, input: unknown, headers?: Record<string, string>): Promise<Response>;
  /** `path`: a path of the service or a whole URL. Sends no key unless `init` has one. */
  get(path: string, init?: RequestInit): Promise<Response>;
  put(path: string, init?: RequestInit): Promise<Response>;
  query<Row extends object = Record<string, unknown>>(sql: string, values?: unknown[]): Promise<Row[]>;
  /** Fails if the service leaves a socket or a database session open. Idempotent. */
  stop(): Promise<void>;
}

/** Starts the whole service in this process, with its own real database, a real port and the shipped settings. */
export async function startTestService(options: TestServiceOptions = {}): Promise<TestService> {
  const database = options.config?.databaseUrl === undefined ? await createTestDatabase() : undefined;
  const directory = await mkdtemp(join(tmpdir(), 'nowserving-service-'));
  const key = options.config?.bootstrapApiKey ?? `test_${randomBytes(24).toString('hex')}`;
  const config = Object.assign(new Config(), {
    port: 0,
    logLevel: 'silent',
    databaseUrl: database?.url,
    bootstrapApiKey: key,
    dataDir: join(directory, 'data'),
    ...(options.limits !== undefined && limitsOf(options.limits)),
    ...options.config,
  });
  if (options.models !== undefined) {
    config.modelsFile = join(directory, 'models.yaml');
    await writeFile(config.modelsFile, options.models);
  }
  const removeTraces = async (): Promise<void> => {
    await rm(directory, { recursive: true, force: true });
    await database?.drop();
  };

  const running = await startService(config).catch(async (error: unknown) => {
    await removeTraces();
    throw error;
  });
  const pool = new pg.Pool({ connectionString: running.databaseUrl, max: 4, application_name: 'test' });
  pool.on('error', () => undefined);
  const server = running.app.getHttpServer();
  const call = (method: string) => (path: string, init?: RequestInit) =>
    fetch(new URL(path, running.url), { method, ...init });
  let stopping: Promise<void> | undefined;

  return {
    url: running.url,
    databaseUrl: running.databaseUrl,
    key,
    config,
    app: running.app,
    submit: (model, input, headers) =>
      fetch(new URL(`/v1/queue/${model}`, running.url), {
        method: 'POST',
        headers: { authorization: `Key ${key}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(input),
      }),
    get: call('GET'),
    put: call('PUT'),
    query: async <Row extends object>(sql: string, values?: unknown[]) =>
      (await pool.query<Row>(sql, values)).rows,
    stop: () =>
      (stopping ??= (async () => {
        try {
          await running.stop();
          await expectNoLeaks(server);
        } finally {
          await pool.end();
          await removeTraces();
        }
      })()),
  };
}

function limitsOf(text: string): Pick<Config, 'rateLimitSubmit' | 'rateLimitOther' | 'rateLimitBatch'> {
  const limits = parseRateLimits(text);
  return { rateLimitSubmit: limits, rateLimitOther: limits, rateLimitBatch: limits };
}

async function expectNoLeaks(server: Server): Promise<void> {
  const open = (): Promise<number> =>
    new Promise((done, fail) =>
      server.getConnections((error, count) => (error === null ? done(count) : fail(error))),
    );
  await until(async () => !server.listening && (await open()) === 0, {
    message: 'a stopped service has closed its port and its sockets',
    explain: async () => ({ listening: server.listening, sockets: await open() }),
  });
}
