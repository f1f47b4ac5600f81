import pg from 'pg';
import { admitAlong, alongValues, type AlongRow } from '../../src/rate-limit/queries/admit-along.js';
import { Usage, windowsAfter, type Increment } from '../../src/rate-limit/usage.js';
import type { RateWindow } from '../../src/config/rate-limits.js';
import { pick, seededRandom } from '../../src/runners/fractal/random.js';
import { createTestDatabase, type TestDatabase } from '../support/index.js';

/**
 * `rate_admit_alone` must count as `rate_admit_one` does, whatever the caller's row holds, and so must a process that
 * knows the row. All go by a clock that stands still: a function of the test's own, found before PostgreSQL's.
 */

const nowUs = 1_780_000_000_123_456;
const windows: [windowsMs: number[], limits: number[]][] = [
  [[1_000], [3]],
  [
    [1_000, 60_000],
    [10, 100],
  ],
  [
    [3_600_000, 60_000],
    [500, 40],
  ],
  [
    [1_000, 60_000, 3_600_000],
    [1_000, 5_000, 60_000],
  ],
];

interface Entries {
  ends: number[];
  counts: number[];
}

interface Held {
  ends: string[];
  counts: number[];
  idle_at: Date;
}

let database: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  database = await createTestDatabase();
  client = await connect();
  await client.query(`
    CREATE SCHEMA still;
    CREATE FUNCTION still.clock_timestamp() RETURNS timestamptz LANGUAGE sql
      RETURN to_timestamp(0) + ${nowUs} * interval '1 microsecond';
    CREATE SCHEMA broken;
    CREATE FUNCTION broken.rate_admit_one(text, text, integer, integer, bigint[], integer[], boolean,
                                          OUT granted integer, OUT at_us bigint, OUT remaining integer[],
                                          OUT reset_ms float8[], OUT ahead_ms float8)
      LANGUAGE plpgsql AS $$ BEGIN RAISE 'asked rate_admit_one'; END $$`);
});

beforeEach(() => client.query('TRUNCATE rate_usage; SET search_path = still, pg_catalog, public'));

afterAll(async () => {
  await client.end();
  await database.drop();
});

async function connect(): Promise<pg.Client> {
  const connection = new pg.Client({ connectionString: database.url });
  await connection.connect();
  return connection;
}

async function hold(subject: string, { ends, counts }: Entries): Promise<void> {
  await client.query(
    `INSERT INTO rate_usage (subject, route_class, ends, counts, idle_at) VALUES ($1, 'submit', $2, $3, 'infinity')`,
    [subject, ends, counts],
  );
}

async function held(subject: string): Promise<Held> {
  const { rows } = await client.query<Held>(
    `SELECT ends, counts, idle_at FROM rate_usage WHERE subject = $1 AND route_class = 'submit'`,
    [subject],
  );
  return rows[0]!;
}

async function admit(call: string, values: unknown[]): Promise<object> {
  const { rows } = await client.query<object>(`SELECT granted, remaining, reset_ms FROM ${call}`, values);
  return rows[0]!;
}

const alone = (subject: string, windowsMs: number[], limits: number[]): Promise<object> =>
  admit(`rate_admit_alone($1, 'submit', $2, $3)`, [subject, windowsMs, limits]);

const one = (subject: string, windowsMs: number[], limits: number[]): Promise<object> =>
  admit(`rate_admit_one($1, 'submit', 1, 0, $2, $3, false)`, [subject, windowsMs, limits]);

const toLimits = (windowsMs: number[], limits: number[]): RateWindow[] =>
  windowsMs.map((windowMs, i) => ({ name: `${windowMs} ms`, windowMs, limit: limits[i]! }));

/** What a process knows that has just seen the row. */
async function usageOf(subject: string): Promise<Usage> {
  const { rows } = await client.query<{ version: string; ends: number[]; counts: number[] }>(
    `SELECT xmin::text AS version, ends::float8[], counts FROM rate_usage WHERE subject = $1`,
    [subject],
  );
  const { version, ends, counts } = rows[0]!;
  return new Usage(version, ends, counts);
}

/** Counts one call along, by what the process knows. */
async function along(
  subject: string,
  limits: RateWindow[],
  usage: Usage,
  increment = usage.increment(limits, nowUs),
): Promise<AlongRow & { increment: Increment | undefined }> {
  const expected = increment && { version: usage.version, increment };
  const { rows } = await client.query<AlongRow>(
    `WITH ${admitAlong(1)} SELECT * FROM toll`,
    alongValues({ subject, routeClass: 'submit', limits, expected }),
  );
  return { ...rows[0]!, increment };
}

/** Entries of some past, now and then ending in this bucket, at this moment, or after it. */
function randomUsage(random: () => number, longestMs: number): Entries {
  const size = pick([0, 1, 2, 20, 49, 50, 99, 100, 149, 160], random);
  const newest = nowUs + pick([0, -1, -3_456, -20_000, -400_000, -70_000_000, 1, 30_000, 5_000_000], random);
  const ages = Array.from({ length: size }, () => Math.floor(random() ** 3 * longestMs * 1_100));
  ages[0] &&= 0;
  // One that is just leaving the window, if the newest is of now.
  if (random() < 0.3) ages.push(longestMs * 1_000);
  ages.sort((a, b) => b - a);
  const ends = [...new Set(ages)].map((age) => newest - age);
  return { ends, counts: ends.map(() => pick([1, 1, 1, 2, 7], random)) };
}

it('decides and counts as the function for everything else does', async () => {
  const random = seededRandom(1);
  const granted = new Set<unknown>();
  for (let i = 0; i < 200; i++) {
    const [windowsMs, limits] = windows[i % windows.length]!;
    const usage = randomUsage(random, Math.max(...windowsMs));
    await hold(`alone ${i}`, usage);
    await hold(`one ${i}`, usage);
    for (let call = 0; call < 2; call++) {
      const answer = await alone(`alone ${i}`, windowsMs, limits);
      expect({ usage, answer }).toEqual({ usage, answer: await one(`one ${i}`, windowsMs, limits) });
      expect({ usage, held: await held(`alone ${i}`) }).toEqual({ usage, held: await held(`one ${i}`) });
      granted.add((answer as { granted: unknown }).granted);
    }
  }
  expect(granted).toEqual(new Set([0, 1]));
});

describe('counted along with something else', () => {
  it('a call is decided as by the function, and as the process expects wherever it expects something', async () => {
    const random = seededRandom(2);
    const kinds = { expected: 0, joined: 0, emptied: 0, decidedThere: 0 };
    for (let i = 0; i < 300; i++) {
      const [windowsMs, most] = windows[i % windows.length]!;
      const limits = toLimits(windowsMs, most);
      const past = randomUsage(random, Math.max(...windowsMs));
      await hold(`along ${i}`, past);
      await hold(`one ${i}`, past);
      const usage = await usageOf(`along ${i}`);
      for (let call = 0; call < 2; call++) {
        const { increment, ...row } = await along(`along ${i}`, limits, usage);
        const answer = await one(`one ${i}`, windowsMs, most);
        const { ends, counts, idle_at } = await held(`one ${i}`);
        // An end that is yet to come was taken ahead, or the clock was set back.
        if (increment === undefined || past.ends.at(-1)! > nowUs) {
          kinds.decidedThere++;
          expect({ past, ...row }).toMatchObject({ past, ...answer, counts });
          break;
        }
        kinds.expected++;
        if (increment.untilUs !== Infinity) kinds.joined++;
        if (increment.windows.some(({ oldestUs }) => oldestUs === undefined)) kinds.emptied++;
        const after = windowsAfter(limits, increment, nowUs);
        const remaining = after.map((window) => window.remaining);
        const reset_ms = after.map(({ resetMs }) => resetMs);
        expect({ past, granted: row.granted, remaining, reset_ms }).toEqual({ past, ...answer });
        usage.apply(increment, row.ends[0]!, row.version);
        expect(usage).toEqual(await usageOf(`along ${i}`));
        const own = await held(`along ${i}`);
        expect({ past, ...own }).toMatchObject({ past, ends, counts });
        expect(own.idle_at.getTime()).toBeGreaterThanOrEqual(idle_at.getTime());
      }
    }
    for (const count of Object.values(kinds)) expect(count).toBeGreaterThan(20);
  });

  const [windowsMs, most] = windows[1]!;
  const limits = toLimits(windowsMs, most);
  const counts = async (): Promise<unknown> => (await held('caller')).counts;

  it('a row that somebody else has changed since is looked at again', async () => {
    await hold('caller', { ends: [nowUs - 500_000], counts: [1] });
    const usage = await usageOf('caller');
    await alone('caller', windowsMs, most);
    const { increment: _, ...row } = await along('caller', limits, usage);
    expect(row).toMatchObject({ granted: 1, remaining: [7, 97], counts: [1, 2] });
    expect(await usageOf('caller')).toEqual(new Usage(row.version, row.ends, row.counts!));
  });

  it('nothing leaves a window earlier than by the clock of the database', async () => {
    await hold('caller', { ends: [nowUs - 999_999], counts: [10] });
    const usage = await usageOf('caller');
    // A process whose clock is fast takes the ten for gone.
    const early = usage.increment(limits, nowUs + 1);
    expect(early).toBeDefined();
    expect(await along('caller', limits, usage, early)).toMatchObject({ granted: 0, remaining: [0, 90] });
    expect(await counts()).toEqual([10]);
  });

  it('a decision that arrives late is made again', async () => {
    await hold('caller', { ends: [nowUs - 1_500_000], counts: [10] });
    const usage = await usageOf('caller');
    const late = usage.increment(limits, nowUs - 26_000);
    expect(late).toBeDefined();
    expect(await along('caller', limits, usage, late)).toMatchObject({ granted: 1, counts: [10, 1] });
  });

  it('a row with the same version and another end is another row', async () => {
    await hold('caller', { ends: [nowUs - 500_000], counts: [10] });
    const { version } = await usageOf('caller');
    const lost = new Usage(version, [nowUs - 600_000], [1]);
    expect(await along('caller', limits, lost)).toMatchObject({ granted: 0, counts: [10] });
  });

  it('a call joins the last entry no longer than that part of the window lasts', async () => {
    const partUs = 25_000;
    const startUs = Math.floor(nowUs / partUs) * partUs;
    await hold('caller', { ends: [startUs], counts: [1] });
    const usage = await usageOf('caller');
    // A process whose clock is slow still takes it for the same part.
    const late = usage.increment(limits, startUs);
    expect(late).toMatchObject({ keep: 0, count: 2 });
    expect(await along('caller', limits, usage, late)).toMatchObject({ granted: 1, counts: [1, 1] });
  });

  it('decides nothing while somebody else counts for the caller', async () => {
    await hold('caller', { ends: [nowUs - 500_000], counts: [1] });
    const usage = await usageOf('caller');
    const other = await connect();
    try {
      await other.query(`BEGIN; SELECT FROM rate_usage WHERE subject = 'caller' FOR UPDATE`);
      expect(await along('caller', limits, usage)).toMatchObject({ granted: null });
    } finally {
      await other.end();
    }
    expect(await along('caller', limits, usage)).toMatchObject({ granted: 1, counts: null });
  });

  it('makes a row for who has none', async () => {
    const { increment: _, ...row } = await along('caller', limits, new Usage('0', [], []));
    expect(row).toMatchObject({ granted: 1, remaining: [9, 99], ends: [nowUs], counts: [1] });
  });
});

it('makes a row for who has none', async () => {
  const [windowsMs, limits] = windows[1]!;
  expect(await alone('new', windowsMs, limits)).toEqual({
    granted: 1,
    remaining: [9, 99],
    reset_ms: windowsMs,
  });
  expect(await held('new')).toMatchObject({ ends: [String(nowUs)], counts: [1] });
});

it('counts a plain call itself, and asks only for what is not plain', async () => {
  const [windowsMs, limits] = windows[1]!;
  await hold('plain', { ends: [nowUs - 500_000], counts: [1] });
  await hold('full', { ends: [nowUs - 500_000], counts: [10] });
  await client.query('SET search_path = still, broken, pg_catalog, public');
  expect(await alone('plain', windowsMs, limits)).toMatchObject({ granted: 1, remaining: [8, 98] });
  for (const subject of ['full', 'new'])
    await expect(alone(subject, windowsMs, limits)).rejects.toThrow('asked rate_admit_one');
});

it('decides nothing while somebody else counts for the caller', async () => {
  const [windowsMs, limits] = windows[1]!;
  await hold('busy', { ends: [nowUs - 500_000], counts: [1] });
  const other = await connect();
  try {
    await other.query(`BEGIN; SELECT FROM rate_usage WHERE subject = 'busy' FOR UPDATE`);
    expect(await alone('busy', windowsMs, limits)).toMatchObject({ granted: null });
  } finally {
    await other.end();
  }
  expect(await alone('busy', windowsMs, limits)).toMatchObject({ granted: 1, remaining: [8, 98] });
});

describe('the limit is filled and no more', () => {
  const limit = 200;
  const limits = toLimits([3_600_000], [limit]);
  const ask = { ask: 0, subject: 'crowd', route_class: 'submit', wanted: 1, spare: 0 };
  const waiting = JSON.stringify([{ ...ask, windows_ms: [3_600_000], limits: [limit] }]);
  let callers: pg.Client[];

  /** Makes one call; null: it has to be made again. */
  type Call = () => Promise<number | null>;

  beforeEach(async () => {
    callers = await Promise.all(Array.from({ length: 5 }, connect));
  });

  afterEach(() => Promise.all(callers.map((caller) => caller.end())));

  const bySql =
    (caller: pg.Client, sql: string): Call =>
    async () =>
      (await caller.query<{ granted: number | null }>(`SELECT granted FROM ${sql}`)).rows[0]!.granted;

  const byFunction = (caller: pg.Client): Call =>
    bySql(caller, `rate_admit_alone('crowd', 'submit', ARRAY[3600000], ARRAY[${limit}])`);

  const byWaiting = (caller: pg.Client): Call => bySql(caller, `rate_admit('${waiting}')`);

  /** As a process does it, which knows what its last call has left. */
  function byProcess(caller: pg.Client, expectedOne = (): void => undefined): Call {
    let usage: Usage | undefined;
    return async () => {
      const increment = usage?.increment(limits, Date.now() * 1_000);
      const expected = usage && increment && { version: usage.version, increment };
      const { rows } = await caller.query<AlongRow>(
        `WITH ${admitAlong(1)} SELECT * FROM toll`,
        alongValues({ subject: 'crowd', routeClass: 'submit', limits, expected }),
      );
      const { granted, version, ends, counts } = rows[0]!;
      if (granted === null) return null;
      if (counts === null) {
        expectedOne();
        usage!.apply(increment!, ends[0]!, version);
      } else usage = new Usage(version, ends, counts);
      return granted;
    };
  }

  async function untilFull(call: Call): Promise<number> {
    for (let admitted = 0; ;) {
      const granted = await call();
      if (granted === 0) return admitted;
      admitted += granted ?? 0;
    }
  }

  async function halfTheLimit(call: Call): Promise<number> {
    let admitted = 0;
    for (let i = 0; i < limit / 2; i++) admitted += (await call()) ?? 0;
    return admitted;
  }

  it('beside each other and beside those who wait for their turn', async () => {
    const [first, second, ...others] = callers;
    const admitted = await Promise.all([
      halfTheLimit(byWaiting(first!)),
      untilFull(byFunction(second!)),
      ...others.map((caller) => untilFull(byProcess(caller))),
    ]);
    expect(admitted.reduce((sum, one) => sum + one, 0)).toBe(limit);
  });

  it('by processes that find what they expect about half of the time', async () => {
    const random = seededRandom(3);
    let expectedOnes = 0;
    const calls = callers.slice(0, 2).map((caller) => byProcess(caller, () => void expectedOnes++));
    expect(await untilFull(() => pick(calls, random)())).toBe(limit);
    expect(expectedOnes).toBeGreaterThan(limit / 4);
    expect(expectedOnes).toBeLessThan((limit * 3) / 4);
  });
});
