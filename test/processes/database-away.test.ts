import type { OverviewAliveDto } from '../../src/admin/live/live.dto.js';
import { KeysService } from '../../src/auth/keys.service.js';
import { DatabaseWatch } from '../../src/database/database-watch.js';
import { DatabaseGate } from '../support/database-gate.js';
import { scrape } from '../support/metrics.js';
import { keyHeader, verdict } from '../support/queue-calls.js';
import { aliveOf } from '../support/overviews.js';
import { readStream } from '../support/stream-reader.js';
import {
  createTestDatabase,
  startTestService,
  type TestDatabase,
  type TestService,
  until,
} from '../support/index.js';

let database: TestDatabase;
let gate: DatabaseGate;
let service: TestService;

beforeAll(async () => {
  database = await createTestDatabase();
  gate = await DatabaseGate.before(database.url);
  service = await startTestService({ limits: 'off', config: { databaseUrl: gate.url } });
});
afterAll(async () => {
  gate.open();
  await service.stop();
  await gate.stop();
  await database.drop();
});
afterEach(async () => {
  gate.open();
  await until(() => service.app.get(DatabaseWatch).state.isUp, { message: 'the database is back' });
});

const metrics = (key: string): Promise<Response> =>
  service.get('/metrics', { headers: { authorization: `Bearer ${key}` } });

/** Ways in which the database goes away. */
const ways = ['close', 'hang'] as const;

test.each(ways)(
  'while the database is away (%s), only keys that could read metrics before can read them',
  async (away) => {
    const keys = service.app.get(KeysService);
    const [observer, caller, revoked, expired] = await Promise.all([
      keys.create({ name: 'prometheus', scopes: ['observe'] }),
      keys.create({ name: 'caller' }),
      keys.make({ name: 'revoked', scopes: ['observe'] }),
      keys.create({ name: 'expired', scopes: ['observe'], expires: { inMs: 5_000 } }),
    ]);
    expect((await metrics(expired.reveal())).status).toBe(200);
    expect((await metrics(revoked.secret.reveal())).status).toBe(200);
    expect((await metrics(caller.reveal())).status).toBe(403);
    await keys.revoke(revoked.id);
    await until(async () => (await metrics(revoked.secret.reveal())).status === 401);
    const before = await scrape({ url: service.url, key: observer.reveal() });
    expect(before.value('nowserving_database_up')).toBe(1);
    gate[away]();
    const during = await until(async () => {
      const one = await scrape({ url: service.url, key: observer.reveal() });
      return one.value('nowserving_database_up') === 0 && one;
    });
    expect(during.value('nowserving_build_info')).toBe(1);
    // No metric claims what no node can know: a 0 would page somebody although all is well.
    const known = /^nowserving_cluster_snapshot_(timestamp_seconds|duration_seconds|failures_total)$/;
    const claimed = during.text.match(/^nowserving_cluster_\w+(?=[ {])/gm) ?? [];
    expect(claimed.filter((name) => !known.test(name))).toEqual([]);
    expect(await (await service.get('/health/ready')).json()).toMatchObject({
      detail: expect.stringMatching(/^Not ready: database\. .*PostgreSQL.*DATABASE_URL/) as string,
    });
    await until(async () => (await metrics(expired.reveal())).status === 503);
    for (const key of [caller.reveal(), revoked.secret.reveal(), 'ns_never_seen'])
      expect(await verdict(metrics(key))).toEqual([503, 'unavailable']);
  },
);

test.each(ways)(
  'the overview’s stream reports that the database is away (%s), since when, and when it is back',
  async (away) => {
    const stream = await readStream(`${service.url}/v1/admin/events`, keyHeader(service.key));
    const said = (): OverviewAliveDto[] => aliveOf(stream);
    await until(() => said().some(({ read_at }) => read_at !== null));
    const goneAt = Date.now();
    gate[away]();
    const gone = await until(() => said().find(({ database: state }) => state === 'away'), {
      message: 'the stream says so',
    });
    expect(Math.abs(Date.parse(gone.database_away_since!) - goneAt)).toBeLessThan(10_000);
    expect(Date.parse(gone.read_at!)).toBeLessThanOrEqual(Date.parse(gone.at));
    gate.open();
    // The figures are read again too.
    const back = await until(() => {
      const last = said().at(-1)!;
      return last.database === 'up' && Date.parse(last.read_at!) > Date.parse(gone.at) && last;
    });
    expect(back.database_away_since).toBeNull();
    await stream.drop();
  },
);
