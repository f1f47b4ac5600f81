import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { Clock } from '../../src/database/clock.js';
import { Config } from '../../src/config/config.js';
import { parseRateLimits } from '../../src/config/parsers.js';
import type { RateLimits } from '../../src/config/rate-limits.js';
import { createDataSource } from '../../src/database/data-source.js';
import { Database } from '../../src/database/database.js';
import type { Statement } from '../../src/database/statement.js';
import { UsagePruner } from '../../src/rate-limit/duties/usage-pruner.js';
import type { AdmitRow } from '../../src/rate-limit/queries/admit.js';
import { RateLimitStorage } from '../../src/rate-limit/rate-limit-storage.js';
import { createTestDatabase, type TestDatabase, until } from '../support/index.js';

/** A database connection that remembers what the admission statement answered. */
class RecordingDatabase extends Database {
  readonly rows: AdmitRow[] = [];
  statements = 0;

  override async query<Row extends object>(statement: Statement, values?: unknown[]): Promise<Row[]> {
    this.statements++;
    const rows = await super.query<Row>(statement, values);
    if (statement.name === 'rate_admit') this.rows.push(...(rows as unknown as AdmitRow[]));
    return rows;
  }
}

interface Node {
  database: RecordingDatabase;
  storage: RateLimitStorage;
}

let database: TestDatabase;
const sources: DataSource[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
});

afterEach(async () => {
  await sources[0]?.query('TRUNCATE rate_usage');
  for (const source of sources.splice(0)) await source.destroy();
});

afterAll(() => database.drop());

/** What one process of the service has: a pool and a storage of its own. */
async function startNode(): Promise<Node> {
  const source = await createDataSource({ url: database.url, poolSize: 2 }).initialize();
  sources.push(source);
  const recording = new RecordingDatabase(source, new Config());
  return { database: recording, storage: new RateLimitStorage(recording, new Clock()) };
}

async function query<Row>(sql: string): Promise<Row[]> {
  return sources[0]!.query<Row[]>(sql);
}

/** When each was admitted, by the database's clock, in order. */
function admissions(nodes: readonly Node[]): number[] {
  return nodes
    .flatMap(({ database: { rows } }) => rows)
    .flatMap(({ at_us, granted }) => Array.from({ length: granted }, () => at_us / 1_000))
    .sort((a, b) => a - b);
}

/** The most times in any half-open span of this length, wherever it begins. */
function mostInAnyWindow(times: readonly number[], windowMs: number): number {
  let [first, most] = [0, 0];
  times.forEach((time, i) => {
    while (time - times[first]! >= windowMs) first++;
    most = Math.max(most, i - first + 1);
  });
  return most;
}

/** Every node asks as fast as it can, several at a time, until the database's clock has moved on by so much. */
async function hammer(
  nodes: readonly Node[],
  forMs: number,
  limits: RateLimits,
  subject = 'key:a',
): Promise<void> {
  const end = performance.now() + forMs;
  const askers = nodes.flatMap(({ storage }) => Array.from({ length: 5 }, () => storage));
  await Promise.all(
    askers.map(async (storage) => {
      while (performance.now() < end) {
        await storage.admit(subject, 'submit', limits);
        await nextTurn();
      }
    }),
  );
}

const windows = (...pairs: [limit: number, windowMs: number][]): RateLimits =>
  pairs.map(([limit, windowMs]) => ({ name: `${windowMs} ms`, limit, windowMs }));

describe('the limits of a subject', () => {
  test('no window of any position ever holds more than the limit, over two nodes that hammer it', async () => {
    const nodes = [await startNode(), await startNode()];
    await hammer(nodes, 3_000, windows([10, 400], [30, 2_000]));
    const times = admissions(nodes);
    expect(mostInAnyWindow(times, 400)).toBe(10);
    expect(mostInAnyWindow(times, 2_000)).toBe(30);
    for (const {
      database: { rows },
    } of nodes)
      expect(rows.some(({ granted }) => granted > 0)).toBe(true);
  });

  test('no window holds more than a limit of which parts are taken ahead', async () => {
    const nodes = [await startNode(), await startNode()];
    const limits = windows([1_500, 1_000]);
    const answers: { from: number; to: number }[] = [];
    const end = performance.now() + 2_500;
    const ask = async ({ storage }: Node): Promise<void> => {
      while (performance.now() < end) {
        const from = performance.now();
        const { admitted } = await storage.admit('key:a', 'submit', limits);
        if (admitted) answers.push({ from, to: performance.now() });
        await nextTurn();
      }
    };
    await Promise.all(nodes.flatMap((node) => Array.from({ length: 10 }, () => ask(node))));
    const taken = nodes
      .flatMap(({ database: { rows } }) => rows)
      .reduce((sum, { granted }) => sum + granted, 0);
    expect(answers.length).toBeLessThanOrEqual(taken);
    expect(answers.length).toBeGreaterThan(1_500);
    // Admitted somewhere between question and answer: those wholly inside a second were inside that second.
    answers.sort((a, b) => a.to - b.to);
    for (const { from } of answers) {
      const inside = answers.filter((other) => other.from >= from && other.to < from + 1_000);
      expect(inside.length).toBeLessThanOrEqual(1_500);
    }
  });

  test('many that arrive at once at a subject nobody knew share its limit', async () => {
    const nodes = await Promise.all(Array.from({ length: 6 }, startNode));
    for (let round = 0; round < 10; round++) {
      const answers = nodes.map(async ({ storage }) =>
        storage.admit(`key:${round}`, 'submit', parseRateLimits('4/h')),
      );
      expect((await Promise.all(answers)).filter(({ admitted }) => admitted)).toHaveLength(4);
    }
  });

  test('a refusal by one window takes nothing from the other', async () => {
    const { storage } = await startNode();
    const limits = parseRateLimits('2/m,100/h');
    for (let i = 0; i < 5; i++) await storage.admit('key:a', 'submit', limits);
    const [row] = await query<{ used: string }>(
      `SELECT (SELECT sum(n) FROM unnest(counts) AS n) AS used FROM rate_usage`,
    );
    expect(Number(row!.used)).toBe(2);
    const { windows: states } = await storage.admit('key:a', 'submit', limits);
    expect(states.map(({ remaining }) => remaining)).toEqual([0, 98]);
  });

  test('nodes that ask for the same subjects in opposite orders all get answers', async () => {
    const nodes = [await startNode(), await startNode(), await startNode()];
    const subjects = Array.from({ length: 30 }, (_, i) => `key:${i}`);
    const limits = parseRateLimits('1000/h,100000/h');
    for (let round = 0; round < 10; round++) {
      await Promise.all(
        nodes.flatMap(({ storage }, n) =>
          (n % 2 === 0 ? subjects : subjects.toReversed()).map(async (subject) =>
            storage.admit(subject, 'other', limits),
          ),
        ),
      );
    }
    const rows = await query<{ used: string }>(
      `SELECT (SELECT sum(n) FROM unnest(counts) AS n) AS used FROM rate_usage`,
    );
    expect(rows.map(({ used }) => Number(used))).toEqual(subjects.map(() => 30));
  });

  test('a flood of refused calls costs the database nothing', async () => {
    const { storage, database: recording } = await startNode();
    const limits = parseRateLimits('1/h');
    await storage.admit('key:a', 'submit', limits);
    expect((await storage.admit('key:a', 'submit', limits)).admitted).toBe(false);
    const before = recording.statements;
    for (let i = 0; i < 1_000; i++) await storage.admit('key:a', 'submit', limits);
    expect(recording.statements).toBe(before);
  });

  test('what is asked while one statement is under way goes into the next', async () => {
    const { storage, database: recording } = await startNode();
    const limits = parseRateLimits('1000/h');
    await Promise.all(
      Array.from({ length: 500 }, async (_, i) => storage.admit(`key:${i % 7}`, 'submit', limits)),
    );
    expect(recording.statements).toBe(2);
  });

  test('a clock that was set back refuses for one window and no longer', async () => {
    const { storage } = await startNode();
    const limits = windows([2, 300]);
    await storage.admit('key:a', 'submit', limits);
    await query(`UPDATE rate_usage SET ends = ARRAY[ends[1] + 3600000000], counts = '{2}'`);
    expect((await storage.admit('key:a', 'submit', limits)).admitted).toBe(false);
    await until(async () => (await storage.admit('key:a', 'submit', limits)).admitted);
  });

  test('the history of a busy subject stays short', async () => {
    const nodes = [await startNode()];
    await hammer(nodes, 1_500, windows([900, 100], [900_000, 1_000]));
    const [row] = await query<{ entries: number }>(`SELECT cardinality(ends) AS entries FROM rate_usage`);
    expect(row!.entries).toBeLessThanOrEqual(100);
  });
});

describe('the usage pruner', () => {
  test('removes what no longer counts and nothing else', async () => {
    const { storage, database: recording } = await startNode();
    await storage.admit('key:old', 'submit', windows([5, 50]));
    await storage.admit('key:new', 'submit', parseRateLimits('5/h'));
    const pruner = new UsagePruner(recording);
    await until(() => pruner.runOnce());
    expect(await query('SELECT subject FROM rate_usage')).toEqual([{ subject: 'key:new' }]);
    expect(await pruner.runOnce()).toBe(0);
  });

  test('never loses a count of a subject that comes back while it works', async () => {
    const nodes = [await startNode(), await startNode()];
    const pruner = new UsagePruner((await startNode()).database);
    let pruning = true;
    const sweeping = (async () => {
      while (pruning) await pruner.runOnce();
    })();
    const limits = windows([3, 40]);
    await hammer(nodes, 2_000, limits);
    pruning = false;
    await sweeping;
    expect(mostInAnyWindow(admissions(nodes), 40)).toBe(3);
  });

  test('starts and stops as often as one likes', async () => {
    const pruner = new UsagePruner((await startNode()).database);
    pruner.start();
    pruner.start();
    await pruner.stop();
    await pruner.stop();
    expect(await pruner.runOnce()).toBe(0);
  });
});
