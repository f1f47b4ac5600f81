import pg from 'pg';
import { startTestService, type TestService, until } from '../support/index.js';
import { DiskSpace } from '../../src/files/disk-space.js';
import { Draining } from '../../src/http/draining.js';

interface Readiness {
  status: string | number;
  code?: string;
  detail?: string;
  checks: Record<string, { status: string }>;
}

let service: TestService;
beforeAll(async () => (service = await startTestService({ limits: '1/h' })));
afterAll(() => service.stop());

const ready = async (): Promise<[number, Readiness]> => {
  const response = await service.get('/health/ready');
  return [response.status, (await response.json()) as Readiness];
};

const unready = (): Promise<Readiness> =>
  until(async () => {
    const [status, readiness] = await ready();
    return status === 503 && readiness;
  });

test('liveness and readiness need no key, count against no limit and are never cached', async () => {
  for (const path of ['/health/live', '/health/ready', '/health/live', '/health/ready/']) {
    const response = await service.get(path, { headers: { authorization: 'Key nonsense' } });
    expect([path, response.status]).toEqual([path, 200]);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('x-request-id')).toBeTruthy();
  }
});

test('a ready service lists its checks', async () => {
  expect(await ready()).toEqual([
    200,
    {
      status: 'ok',
      checks: {
        database: { status: 'up' },
        migrations: { status: 'up' },
        files: { status: 'up' },
        storage: { status: 'up' },
        accepting: { status: 'up' },
      },
    },
  ]);
});

test('an outdated schema makes the service unready until the schema is current', async () => {
  await service.query(`UPDATE migrations SET name = 'away_' || name`);
  const behind = await unready();
  expect(behind).toMatchObject({ code: 'unavailable', checks: { migrations: { status: 'down' } } });
  expect((await service.get('/health/live')).status).toBe(200);
  await service.query(`UPDATE migrations SET name = substr(name, 6)`);
  await until(async () => (await ready())[0] === 200);
});

test('an unreachable database makes the service unready, but still live, until the database returns', async () => {
  const name = new URL(service.databaseUrl).pathname.slice(1);
  const client = new pg.Client({ connectionString: new URL('/postgres', service.databaseUrl).href });
  await client.connect();
  try {
    await client.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
    await client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
    const gone = await until(async () => {
      const [status, readiness] = await ready();
      return status === 503 && readiness.detail?.includes('55000') && readiness;
    });
    expect(gone).toMatchObject({
      code: 'unavailable',
      detail: expect.stringMatching(
        /^Not ready: database\. The database refuses .*log of PostgreSQL/,
      ) as string,
      checks: { database: { status: 'down' } },
    });
    expect((await service.get('/health/live')).status).toBe(200);
  } finally {
    await client.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
    await client.end();
  }
  await until(async () => (await ready())[0] === 200);
});

test('a disk that does not answer fails its own checks, and the database stays up', async () => {
  const space = service.app.get(DiskSpace);
  const { measure } = space;
  const waiting: (() => void)[] = [];
  space.measure = (folder) => new Promise((done) => waiting.push(() => done(measure(folder))));
  try {
    expect(await unready()).toMatchObject({
      code: 'unavailable',
      detail: expect.stringMatching(/^Not ready: files\. The disk of DATA_DIR does not answer/) as string,
      checks: { database: { status: 'up' }, files: { status: 'down' }, storage: { status: 'up' } },
    });
  } finally {
    space.measure = measure;
    for (const answer of waiting) answer();
  }
  await until(async () => (await ready())[0] === 200);
});

test('a service that is stopping is unready and takes no submissions', async () => {
  const other = await startTestService();
  other.app.get(Draining).begin();
  const response = await other.get('/health/ready');
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '2']);
  expect(await response.json()).toMatchObject({
    code: 'unavailable',
    checks: { accepting: { status: 'down' } },
  });
  expect((await other.submit('demo/text/echo', {})).status).toBe(503);
  await other.stop();
});
