import { inspect } from 'node:util';
import { CallerFinder } from '../../src/auth/caller-finder.js';
import { hashOf, KeySecret } from '../../src/auth/key-secret.js';
import { Database } from '../../src/database/database.js';
import { Caller } from '../support/caller.js';
import { problemOf } from '../support/queue-calls.js';
import { startTestService, type TestService, until } from '../support/index.js';

let service: TestService;
let app: Caller;

/** Starts a second node. Nothing runs on either. */
const startNode = (config: object = {}): Promise<TestService> =>
  startTestService({ limits: '1000/s', config: { role: 'api', ...config } });

beforeAll(async () => {
  service = await startNode();
  app = new Caller(service);
});

afterAll(() => service.stop());

async function code(response: Response): Promise<string> {
  return (await problemOf(response)).code;
}

async function newestKeyId(): Promise<string> {
  return (await app.keys.list()).at(-1)!.id;
}

const authorized = (authorization: string): Promise<Response> =>
  app.submit(undefined, { headers: { authorization } });

describe('the Authorization header', () => {
  test.each(['Key', 'key', 'KEY', 'Bearer', 'bearer'])('"%s <key>" is accepted', async (scheme) => {
    expect((await authorized(`${scheme} ${await app.newKey()}`)).status).toBe(202);
  });

  test('an unknown key is invalid, also a part of a valid one', async () => {
    const key = await app.newKey();
    for (const wrong of [key.slice(0, 10), key.slice(0, -1), `${key}x`, key.toUpperCase()]) {
      expect(await code(await app.submit(wrong))).toBe('invalid_key');
    }
  });

  test('no answer repeats the key that was sent', async () => {
    const text = await (await app.submit('hunter2-hunter2-hunter2')).text();
    expect(text).not.toContain('hunter2');
  });
});

describe('a key', () => {
  test('may make the calls of its scopes and no others', async () => {
    const reader = await app.newKey({ scopes: ['read'] });
    const canceller = await app.newKey({ scopes: ['cancel'] });
    expect(await code(await app.status(reader))).toBe('unknown_request');
    expect(await code(await app.submit(reader))).toBe('forbidden');
    expect(await code(await app.cancel(reader))).toBe('forbidden');
    expect(await code(await app.cancel(canceller))).toBe('unknown_request');
    expect(await code(await app.status(canceller))).toBe('forbidden');
  });

  test('may use the models it names and nothing else', async () => {
    const key = await app.newKey({ models: ['demo/text/echo', 'demo/image/*'] });
    const submit = async (model: string): Promise<number> => (await app.submit(key, { model })).status;
    expect(await submit('demo/text/echo')).toBe(202);
    expect(await submit('demo/image/fractal')).toBe(422);
    expect(await submit('demo/image/none')).toBe(404);
    expect(await submit('demo/text/echo/more')).toBe(403);
    expect(await submit('demo/text')).toBe(403);
    expect(await submit('demo/images/fractal')).toBe(403);
  });

  test('is revoked once', async () => {
    await app.newKey();
    const id = await newestKeyId();
    expect(await app.keys.revoke(id)).toBe(true);
    expect(await app.keys.revoke(id)).toBe(false);
  });

  test('stops working within seconds when another node revokes it', async () => {
    const other = await startNode({ databaseUrl: service.databaseUrl });
    try {
      const key = await app.newKey();
      expect((await new Caller(other).submit(key)).status).toBe(202);
      await app.keys.revoke(await newestKeyId());
      await until(async () => (await new Caller(other).submit(key)).status === 401, { timeoutMs: 6_000 });
    } finally {
      await other.stop();
    }
  });

  test('stops working when it expires, even if it was just seen', async () => {
    let key = '';
    // On a slow machine, a key may have expired before it is used for the first time.
    for (let inMs = 400; (await app.submit(key)).status !== 202; inMs *= 2)
      key = await app.newKey({ expires: { inMs } });
    await until(async () => (await app.submit(key)).status === 401);
  });

  test('works once another process has created it', async () => {
    const secret = KeySecret.generate();
    expect((await app.submit(secret.reveal())).status).toBe(401);
    await service.query(
      `INSERT INTO api_key (id, name, prefix, hash, scopes)
       VALUES (gen_random_uuid(), 'elsewhere', $1, $2, '{submit}')`,
      [secret.prefix(), secret.hash()],
    );
    await until(async () => (await app.submit(secret.reveal())).status === 202);
  });

  test('with unreadable limits is still accepted', async () => {
    const key = await app.newKey();
    await service.query(`UPDATE api_key SET rate_limit_submit = 'lots' WHERE id = $1`, [await newestKeyId()]);
    expect((await app.submit(key)).status).toBe(202);
  });

  test('records its last use without a write for every call', async () => {
    const key = await app.newKey();
    const id = await newestKeyId();
    interface Row {
      last_used_at: Date | null;
      xmin: string;
    }
    const read = async (): Promise<Row> =>
      (await service.query<Row>(`SELECT last_used_at, xmin FROM api_key WHERE id = $1`, [id]))[0]!;
    await Promise.all(Array.from({ length: 20 }, () => app.submit(key)));
    const first = await until(async () => {
      const row = await read();
      return row.last_used_at !== null && row;
    });
    const other = await startNode({ databaseUrl: service.databaseUrl });
    try {
      expect((await new Caller(other).submit(key)).status).toBe(202);
    } finally {
      await other.stop();
    }
    expect((await read()).xmin).toBe(first.xmin);
  });

  test('does not appear in objects, lists or rows after its creation', async () => {
    const key = await app.newKey();
    await app.submit(key);
    const finder = service.app.get(CallerFinder);
    const caller = await finder.find(hashOf(key));
    const shown = inspect([caller, await app.keys.list(), new KeySecret(key), app.keys, finder], {
      depth: 12,
      showHidden: true,
    });
    expect(shown).not.toContain(key.slice(10));
    expect(JSON.stringify({ caller, secret: new KeySecret(key) })).not.toContain(key.slice(10));
    const rows = await service.query(`SELECT k::text AS row FROM api_key k`);
    expect(JSON.stringify(rows)).not.toContain(key.slice(10));
  });

  test('is recognised by ten characters, or by at most a quarter of a key that was chosen', () => {
    expect(KeySecret.generate().reveal()).toMatch(/^ns_[\w-]{43}$/);
    expect(KeySecret.generate().prefix()).toMatch(/^ns_[\w-]{7}$/);
    expect(new KeySecret('correct-horse-battery').prefix()).toBe('corre');
  });
});

describe('looking keys up', () => {
  let finder: CallerFinder;
  let restore: () => void;
  /** The number of statements that looked keys up; `hold`: the promise that delays the answer of the next one. */
  let lookUps = 0;
  let hold: Promise<void> | undefined;

  beforeEach(() => {
    finder = service.app.get(CallerFinder);
    const connection = service.app.get(Database);
    const query = connection.query.bind(connection);
    lookUps = 0;
    connection.query = async (statement, values) => {
      const isLookUp = statement.name === 'find_keys';
      const held = isLookUp ? hold : undefined;
      if (isLookUp) [lookUps, hold] = [lookUps + 1, undefined];
      const rows = await query(statement, values);
      await held;
      return rows as never;
    };
    restore = () => (connection.query = query);
  });

  afterEach(() => restore());

  const change = (id: string, assignment: string): Promise<unknown> =>
    service.query(`UPDATE api_key SET ${assignment} WHERE id = $1`, [id]);

  test('many calls at once share a statement, also with different keys, and later ones need none', async () => {
    const keys = [await app.newKey(), await app.newKey(), 'ns_unknown_1', 'ns_unknown_2'];
    const findAll = (): Promise<unknown> =>
      Promise.all(Array.from({ length: 100 }, async (_, i) => finder.find(hashOf(keys[i % 4]!))));
    await findAll();
    expect(lookUps).toBe(1);
    await findAll();
    expect(lookUps).toBe(1);
  });

  test('a change or deletion of a key is counted, its use is not', async () => {
    await app.newKey();
    const id = await newestKeyId();
    const count = async (): Promise<number> =>
      (await service.query<{ count: number }>(`SELECT count::integer FROM key_change`))[0]!.count;
    const before = await count();
    await change(id, 'last_used_at = now()');
    expect(await count()).toBe(before);
    await change(id, 'last_used_at = now(), weight = 2');
    expect(await count()).toBe(before + 1);
    const columns = await service.query<{ name: string; is_counted: boolean }>(
      `SELECT column_name AS name, counted.event_object_column IS NOT NULL AS is_counted
       FROM information_schema.columns
       LEFT JOIN information_schema.triggered_update_columns AS counted
         ON counted.event_object_table = table_name AND counted.event_object_column = column_name
       WHERE table_name = 'api_key'`,
    );
    expect(columns.filter((column) => !column.is_counted).map(({ name }) => name)).toEqual(['last_used_at']);
    await service.query(`DELETE FROM api_key WHERE id = $1`, [id]);
    expect(await count()).toBe(before + 2);
  });

  test.each([1, 3])('a change is seen after a failover that has lost %i earlier changes', async (lost) => {
    const key = hashOf(await app.newKey());
    const id = await newestKeyId();
    for (let i = 0; i < lost; i++) await change(id, `weight = ${i + 2}`);
    finder.lookAgain();
    expect(await finder.find(key)).toMatchObject({ weight: lost + 1 });
    await service.query('UPDATE key_change SET count = count - $1', [lost]);
    await change(id, 'weight = 9');
    finder.lookAgain();
    expect(await finder.find(key)).toMatchObject({ weight: 9 });
  });

  test('a lookup that begins before a change and returns after it is not cached', async () => {
    const key = hashOf(await app.newKey());
    const id = await newestKeyId();
    // As many keys as may be looked up behind one look-up that is under way.
    const others = await Promise.all(Array.from({ length: 8 }, () => app.newKey()));
    let answer: (() => void) | undefined;
    hold = new Promise((resolve) => (answer = resolve));
    const early = finder.find(key);
    await until(() => lookUps === 1);
    await change(id, 'weight = 7');
    await Promise.all(others.map(async (other) => finder.find(hashOf(other))));
    answer!();
    await early;
    expect(await finder.find(key)).toMatchObject({ weight: 7 });
  });
});
