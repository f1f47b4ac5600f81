import { setInterval } from 'node:timers/promises';
import pg from 'pg';
import { KeySecret } from '../../src/auth/key-secret.js';
import { keyHeader, unknownId } from '../support/queue-calls.js';
import {
  createTestDatabase,
  type SpawnedService,
  spawnService,
  type TestDatabase,
  until,
} from '../support/index.js';

interface Call {
  sentAt: number;
  answeredAt: number;
  /** undefined: no answer. */
  status: number | undefined;
}

const admitted = ({ status }: Call): boolean => status === 404;

let database: TestDatabase;
let tables: pg.Client;
let key: string;
const nodes = new Set<SpawnedService>();

beforeEach(async () => {
  database = await createTestDatabase();
  tables = new pg.Client({ connectionString: database.url });
  await tables.connect();
  key = KeySecret.generate().reveal();
});

afterEach(async () => {
  for (const node of nodes) node.kill('SIGKILL');
  await Promise.all([...nodes].map(({ exited }) => exited));
  nodes.clear();
  await tables.end();
  await database.drop();
});

async function join(limits: string): Promise<SpawnedService> {
  const node = await spawnService({
    DATABASE_URL: database.url,
    BOOTSTRAP_API_KEY: key,
    RATE_LIMIT_OTHER: limits,
    ROLE: 'api',
    LOG_LEVEL: 'error',
  });
  nodes.add(node);
  return node;
}

async function cluster(size: 2 | 3, limits: string): Promise<[SpawnedService, SpawnedService]> {
  // The first process migrates and creates the key.
  const first = await join(limits);
  const others = await Promise.all(Array.from({ length: size - 1 }, () => join(limits)));
  return [first, ...others] as [SpawnedService, SpawnedService];
}

async function end(node: SpawnedService, signal: NodeJS.Signals): Promise<void> {
  nodes.delete(node);
  node.kill(signal);
  await node.exited;
}

/** Reads a request that does not exist: 404 means that the call was admitted. */
async function call({ url }: SpawnedService): Promise<Call> {
  const sentAt = performance.now();
  const status = await fetch(`${url}/v1/queue/requests/${unknownId()}/status`, {
    headers: keyHeader(key),
    signal: AbortSignal.timeout(10_000),
  }).then(
    async (response) => {
      await response.arrayBuffer();
      return response.status;
    },
    () => undefined,
  );
  return { sentAt, answeredAt: performance.now(), status };
}

/** Returns the most calls that were all sent and answered within some `windowMs`. */
function maxSurelyWithin(calls: readonly Call[], windowMs: number): number {
  return Math.max(
    0,
    ...calls.map(
      ({ sentAt: start }) =>
        calls.filter(({ sentAt, answeredAt }) => sentAt >= start && answeredAt < start + windowMs).length,
    ),
  );
}

/** Calls `nodeOf(n)` this many times a second until `isOver`. */
async function callers(
  perSecond: number,
  nodeOf: (n: number) => SpawnedService | undefined,
  isOver: (n: number) => boolean,
): Promise<Call[]> {
  const calls: Promise<Call>[] = [];
  let n = 0;
  for await (const _ of setInterval(1_000 / perSecond)) {
    if (isOver(n)) break;
    const node = nodeOf(n++);
    if (node !== undefined) calls.push(call(node));
  }
  return Promise.all(calls);
}

interface Holder {
  id: string;
  beat: string;
}

async function holders(): Promise<Holder[]> {
  return (await tables.query<Holder>('SELECT id, beat FROM limit_holder ORDER BY id')).rows;
}

/** Waits until at most `left` of these holders have a row and those have beaten twice since. They share the rest. */
async function givenUp(before: Holder[], left: number): Promise<void> {
  const known = new Set(before.map(({ id }) => id));
  const rest = async (): Promise<Holder[]> => (await holders()).filter(({ id }) => known.has(id));
  const seen = await until(async () => {
    const found = await rest();
    return found.length <= left && new Map(found.map(({ id, beat }) => [id, Number(beat)]));
  });
  await until(async () => (await rest()).every(({ id, beat }) => Number(beat) >= seen.get(id)! + 2));
}

const pick = (): SpawnedService | undefined => [...nodes][Math.floor(Math.random() * nodes.size)];

test('no window exceeds its limit while nodes join, leave, freeze and die', async () => {
  const limits = '20/s,250/m';
  const [first, second] = await cluster(3, limits);
  let isOver = false;
  const hammering = callers(70, pick, () => isOver);
  const after = async (count: number): Promise<void> => {
    await Promise.all(Array.from({ length: count }, () => call(first)));
  };
  await after(20);
  const three = await holders();
  second.kill('SIGSTOP');
  await givenUp(three, 2);
  const two = await holders();
  second.kill('SIGCONT');
  await end(first, 'SIGKILL');
  const fourth = await join(limits);
  await givenUp(two, 1);
  const others = await holders();
  await end(second, 'SIGTERM');
  await join(limits);
  fourth.kill('SIGSTOP');
  await givenUp(others, 1);
  fourth.kill('SIGCONT');
  await until(async () => [403, 404].includes((await call(fourth)).status ?? 0));
  isOver = true;
  const calls = await hammering;
  expect(calls.filter(admitted).length).toBeGreaterThan(100);
  expect(maxSurelyWithin(calls.filter(admitted), 1_000)).toBeLessThanOrEqual(20);
  expect(maxSurelyWithin(calls.filter(admitted), 60_000)).toBeLessThanOrEqual(250);
  const answers = new Set(calls.map(({ status }) => status));
  for (const status of answers) expect([undefined, 403, 404, 503]).toContain(status);
});

test('all grants of a killed process become available to another node', async () => {
  const [one, other] = await cluster(2, '6/s');
  while (admitted(await call(one)));
  await end(one, 'SIGKILL');
  await until(async () => {
    const burst = await Promise.all(Array.from({ length: 7 }, () => call(other)));
    return burst.filter(admitted).length === 6;
  });
});

test('a process that was frozen and the other node together never exceed the limit', async () => {
  const [one, other] = await cluster(2, '6/h');
  expect(admitted(await call(one))).toBe(true);
  const both = await holders();
  one.kill('SIGSTOP');
  const waiting = Array.from({ length: 10 }, () => call(one));
  await givenUp(both, 1);
  let admittedByOther = 0;
  for (let n = 0; n < 10; n++) if (admitted(await call(other))) admittedByOther++;
  one.kill('SIGCONT');
  const late = await Promise.all(waiting);
  await until(async () => [403, 404].includes((await call(one)).status ?? 0));
  const woken = await Promise.all(Array.from({ length: 10 }, () => call(one)));
  const all = 1 + admittedByOther + [...late, ...woken].filter(admitted).length;
  expect(all).toBeLessThanOrEqual(6);
});

test('no call below the limit is refused: at 90 % on one or evenly over three nodes, at 70 % at random', async () => {
  const limits = '600/m';
  const three = await cluster(3, limits);
  for (const [perSecond, nodeOf] of [
    [9, () => three[0]],
    [9, (n: number) => three[n % 3]],
    [7, pick],
  ] as const) {
    const calls = await callers(perSecond, nodeOf, (n) => n === 4 * perSecond);
    expect(calls.map(({ status }) => status)).toEqual(calls.map(() => 404));
  }
});
