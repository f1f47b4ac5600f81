import { inspect } from 'node:util';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { hashOf, KeySecret } from '../../src/auth/key-secret.js';
import { LastUse } from '../../src/auth/last-use.js';
import { Database } from '../../src/database/database.js';
import { type LimitedApp, problem, startLimitedApp } from '../support/rate-limit-app.js';
import { createTestDatabase, type TestDatabase, until } from '../support/index.js';

let database: TestDatabase;
let app: LimitedApp;
let pool: pg.Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  app = await startLimitedApp(database.url);
  pool = new pg.Pool({ connectionString: database.url, max: 2 });
});

afterAll(async () => {
  await app.stop();
  await pool.end();
  await database.drop();
});

async function code(response: Response): Promise<string> {
  return (await problem(response)).code;
}

function gate(): { opened: Promise<void>; open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

async function newestKeyId(): Promise<string> {
  return (await app.keys.list()).at(-1)!.id;
}

const authorized = (authorization: string): Promise<Response> =>
  app.call('POST', '/submit/acme/upscale', { authorization });

describe('the Authorization header', () => {
  test.each(['Key', 'key', 'KEY', 'Bearer', 'bearer'])('"%s <key>" is accepted', async (scheme) => {
    expect((await authorized(`${scheme} ${await app.newKey()}`)).status).toBe(201);
  });

  test.each([
    'Basic abc',
    'Key',
    'Bearer',
    'Key a b',
    'Key,abc',
    'abc',
    `Key ${'x'.repeat(600)}`,
    'Key é',
    '',
  ])('"%s" is an invalid key', async (header) => {
    const answer = await authorized(header);
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe('Key');
    expect(await code(answer)).toBe('invalid_key');
  });

  test('none at all is a missing key', async () => {
    const answer = await app.submit();
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe('Key');
    expect(await code(answer)).toBe('missing_key');
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
  test('may do what its scopes say and nothing else', async () => {
    const reader = await app.newKey({ scopes: ['read'] });
    const canceller = await app.newKey({ scopes: ['cancel'] });
    const cancel = (key: string): Promise<Response> =>
      app.call('PUT', '/cancel', { authorization: `Key ${key}` });
    expect((await app.read(reader)).status).toBe(200);
    expect(await code(await app.submit(reader))).toBe('forbidden');
    expect(await code(await cancel(reader))).toBe('forbidden');
    expect((await cancel(canceller)).status).toBe(200);
    expect(await code(await app.read(canceller))).toBe('forbidden');
  });

  test('may use the models it names and nothing else', async () => {
    const key = await app.newKey({ models: ['acme/upscale', 'demo/*'] });
    const submit = async (model: string): Promise<number> =>
      (await app.call('POST', `/submit/${model}`, { authorization: `Key ${key}` })).status;
    expect(await submit('acme/upscale')).toBe(201);
    expect(await submit('demo/text/echo')).toBe(201);
    expect(await submit('acme/upscale/more')).toBe(403);
    expect(await submit('acme')).toBe(403);
    expect(await submit('demonic/text')).toBe(403);
  });

  test('stops working at once when this node revokes it', async () => {
    const key = await app.newKey();
    const id = await newestKeyId();
    expect((await app.submit(key)).status).toBe(201);
    expect(await app.keys.revoke(id)).toBe(true);
    expect(await code(await app.submit(key))).toBe('invalid_key');
    expect(await app.keys.revoke(id)).toBe(false);
  });

  test('that is revoked in mid-flight is refused by every call made after that', async () => {
    for (let round = 0; round < 20; round++) {
      const key = await app.newKey();
      const before = Array.from({ length: 5 }, () => app.submit(key));
      await app.keys.revoke(await newestKeyId());
      const after = Array.from({ length: 5 }, () => app.submit(key));
      for (const answer of await Promise.all(after)) expect(answer.status).toBe(401);
      await Promise.all(before);
      expect((await app.submit(key)).status).toBe(401);
    }
  });

  test('that was being looked up while it was revoked is not remembered as valid', async () => {
    const key = await app.newKey();
    const id = await newestKeyId();
    const connection = app.app.get(Database);
    const query = connection.query.bind(connection);
    const [read, release] = [gate(), gate()];
    connection.query = async (statement, values) => {
      const rows = await query(statement, values);
      read.open();
      await release.opened;
      return rows as never;
    };
    try {
      const before = app.keys.holder(hashOf(key));
      await read.opened;
      await app.keys.revoke(id);
      const after = app.keys.holder(hashOf(key));
      release.open();
      expect(await before).toBeDefined();
      expect(await after).toBeUndefined();
      expect(await app.keys.holder(hashOf(key))).toBeUndefined();
    } finally {
      release.open();
      connection.query = query;
    }
  });

  test('stops working within seconds when another node revokes it', async () => {
    const other = await startLimitedApp(database.url);
    try {
      const key = await app.newKey();
      expect((await other.submit(key)).status).toBe(201);
      await app.keys.revoke(await newestKeyId());
      await until(async () => (await other.submit(key)).status === 401, { timeoutMs: 6_000 });
    } finally {
      await other.stop();
    }
  });

  test('stops working when it expires, even if it was just seen', async () => {
    const key = await app.newKey({ expires: { inMs: 400 } });
    expect((await app.submit(key)).status).toBe(201);
    await until(async () => (await app.submit(key)).status === 401, { timeoutMs: 3_000 });
  });

  test('that was made by another process works', async () => {
    const secret = KeySecret.generate();
    expect((await app.submit(secret.reveal())).status).toBe(401);
    await pool.query(
      `INSERT INTO api_key (id, name, prefix, hash, scopes)
       VALUES (gen_random_uuid(), 'elsewhere', $1, $2, '{submit}')`,
      [secret.prefix(), secret.hash()],
    );
    await until(async () => (await app.submit(secret.reveal())).status === 201);
  });

  test('with limits that nobody can read has the limits of the service', async () => {
    const key = await app.newKey();
    await pool.query(`UPDATE api_key SET rate_limit_submit = 'lots' WHERE id = $1`, [await newestKeyId()]);
    expect((await app.submit(key)).status).toBe(201);
  });

  test('leaves a trace of its last use, without a write for every call', async () => {
    const key = await app.newKey();
    const id = await newestKeyId();
    await Promise.all(Array.from({ length: 20 }, () => app.submit(key)));
    await app.app.get(LastUse).flush();
    const read = async (): Promise<{ last_used_at: Date; xmin: string }> =>
      (
        await pool.query<{ last_used_at: Date; xmin: string }>(
          `SELECT last_used_at, xmin FROM api_key WHERE id = $1`,
          [id],
        )
      ).rows[0]!;
    const first = await read();
    expect(first.last_used_at).toBeInstanceOf(Date);
    await app.submit(key);
    await app.app.get(LastUse).flush();
    expect((await read()).xmin).toBe(first.xmin);
  });

  test('is nowhere to be seen once it was made', async () => {
    const key = await app.newKey();
    await app.submit(key);
    const caller = await app.keys.holder(hashOf(key));
    const shown = inspect([caller, await app.keys.list(), new KeySecret(key), app.keys], {
      depth: 12,
      showHidden: true,
    });
    expect(shown).not.toContain(key.slice(10));
    expect(JSON.stringify({ caller, secret: new KeySecret(key) })).not.toContain(key.slice(10));
    const { rows } = await pool.query(`SELECT k::text AS row FROM api_key k`);
    expect(JSON.stringify(rows)).not.toContain(key.slice(10));
  });

  test('is recognised by ten characters; of a key somebody chose at most a quarter is kept', () => {
    expect(KeySecret.generate().reveal()).toMatch(/^ns_[\w-]{43}$/);
    expect(KeySecret.generate().prefix()).toMatch(/^ns_[\w-]{7}$/);
    expect(new KeySecret('correct-horse-battery').prefix()).toBe('corre');
  });
});

describe('who may read a request', () => {
  test('REQUEST_ACCESS=capability asks for no key, but one that is sent must be valid', async () => {
    expect(await (await app.read()).json()).toEqual({ keyId: null });
    expect(await code(await app.read('ns_wrong'))).toBe('invalid_key');
    const key = await app.newKey();
    expect(await (await app.read(key)).json()).toEqual({ keyId: await newestKeyId() });
  });

  test('REQUEST_ACCESS=key demands one', async () => {
    const strict = await startLimitedApp(database.url, { requestAccess: 'key' });
    try {
      expect(await code(await strict.read())).toBe('missing_key');
      expect((await strict.read(await strict.newKey())).status).toBe(200);
    } finally {
      await strict.stop();
    }
  });
});

describe('looking keys up', () => {
  test('many calls at once share a statement, also with different keys, and later ones need none', async () => {
    const keys = [await app.newKey(), await app.newKey(), 'ns_unknown_1', 'ns_unknown_2'];
    const statements = new Set<string>();
    const connection = app.app.get(Database);
    const query = connection.query.bind(connection);
    let count = 0;
    connection.query = (statement, values) => {
      statements.add(statement.name);
      count++;
      return query(statement, values);
    };
    try {
      const findAll = (): Promise<unknown> =>
        Promise.all(Array.from({ length: 100 }, async (_, i) => app.keys.holder(hashOf(keys[i % 4]!))));
      await findAll();
      expect(statements).toEqual(new Set(['find_keys']));
      expect(count).toBe(2);
      await findAll();
      expect(count).toBe(2);
    } finally {
      connection.query = query;
    }
  });
});

describe('the entity', () => {
  test('describes the table exactly', async () => {
    const log = await app.app.get(DataSource).driver.createSchemaBuilder().log();
    expect(log.upQueries.map(({ query }) => query)).toEqual([]);
  });
});
