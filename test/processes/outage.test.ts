import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { createTestDatabase, spawnService, submitTo, until } from '../support/index.js';
import { ModelServer } from '../support/model-server.js';

const key = 'a-key-for-the-outage-0123456789';

test('200 requests survive an outage of their models in order, with no attempt used and few probes', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'nowserving-outage-'));
  const [refusing, starting] = [await new ModelServer().start(), await new ModelServer().start()];
  const runner = ({ url }: ModelServer): object => ({ kind: 'http', url });
  const models = [
    { id: 'test/refusing', runner: runner(refusing) },
    { id: 'test/starting', runner: runner(starting) },
  ];
  await writeFile(join(directory, 'models.yaml'), JSON.stringify({ models }));
  const database = await createTestDatabase();
  const sql = new pg.Client({ connectionString: database.url });
  await sql.connect();
  const left = async (): Promise<number> =>
    (await sql.query(`SELECT FROM request WHERE state <> 'COMPLETED'`)).rows.length;
  const service = await spawnService({
    DATABASE_URL: database.url,
    MODELS_FILE: join(directory, 'models.yaml'),
    BOOTSTRAP_API_KEY: key,
    RATE_LIMIT_SUBMIT: 'off',
  });

  await refusing.stop();
  const { respond } = starting;
  starting.respond = ({ response }) => response.writeHead(503).end();
  const ids: Record<string, string[]> = { 'test/refusing': [], 'test/starting': [] };
  for (let n = 0; n < 100; n++)
    for (const [model, submitted] of Object.entries(ids))
      submitted.push((await submitTo(service.url, key, model, {})).request_id);
  // The first run, and the probes after 1, 3 and 7 s.
  await until(() => starting.calls.length === 4);
  expect(await left()).toBe(200);
  await refusing.start();
  starting.respond = respond;
  await until(async () => (await left()) === 0);

  expect(refusing.calls.map(({ id }) => id)).toEqual(ids['test/refusing']);
  const [first] = ids['test/starting']!;
  expect(starting.calls.map(({ id }) => id)).toEqual([
    ...Array<string>(4).fill(first!),
    ...ids['test/starting']!,
  ]);
  expect([...refusing.calls, ...starting.calls].filter(({ attempt }) => attempt !== 1)).toEqual([]);
  const tried = await sql.query<{ id: string; probes: number }>(
    `SELECT request_id AS id, count(*)::integer AS probes FROM attempt WHERE outcome = 'unreached' GROUP BY 1`,
  );
  const fronts = Object.values(ids).map(([front]) => front);
  expect(new Set(tried.rows.map(({ id }) => id))).toEqual(new Set(fronts));
  for (const { probes } of tried.rows) expect(probes).toBeLessThanOrEqual(5);
  const { rows } = await sql.query(`SELECT DISTINCT outcome, failed_attempts, lost_attempts FROM request`);
  expect(rows).toEqual([{ outcome: 'succeeded', failed_attempts: 0, lost_attempts: 0 }]);
  await sql.end();
  await service.stop();
  for (const [id, { url }] of Object.entries({ 'test/refusing': refusing, 'test/starting': starting })) {
    const place = `${id} at ${new URL(url).origin}`;
    const times = (text: string): number => service.output.split(`${place} ${text}`).length - 1;
    expect([times('is away: '), times('is reachable again after ')]).toEqual([1, 1]);
  }
  await Promise.all([refusing.stop(), starting.stop()]);
  await database.drop();
  await rm(directory, { recursive: true, force: true });
});
