import { randomBytes, randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { Config } from '../../src/config/config.js';
import { createDataSource } from '../../src/database/data-source.js';
import { WebhookSecretEntity } from '../../src/webhooks/entities/webhook-secret.entity.js';
import { WebhookSecrets } from '../../src/webhooks/webhook-secrets.js';
import { createTestDatabase, type TestDatabase } from '../support/index.js';

let database: TestDatabase;
let dataSource: DataSource;

beforeAll(async () => {
  database = await createTestDatabase();
  const settings = { url: database.url, poolSize: 4, entities: [WebhookSecretEntity] };
  dataSource = await createDataSource(settings).initialize();
});
afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});

/** The secrets of a process with these settings. */
const secretsOf = (config: Partial<Config> = {}): WebhookSecrets =>
  new WebhookSecrets(dataSource.getRepository(WebhookSecretEntity), Object.assign(new Config(), config));

const stored = (keyId: string): Promise<WebhookSecretEntity[]> =>
  dataSource.getRepository(WebhookSecretEntity).findBy({ apiKeyId: keyId });

const shared = `whsec_${randomBytes(32).toString('base64')}`;
const format = /^whsec_[\w+/]{43}=$/;

test('a key gets exactly one secret at its first use, even with concurrent calls', async () => {
  const key = randomUUID();
  const found = await Promise.all(Array.from({ length: 8 }, () => secretsOf().secretOf(key)));
  expect(new Set(found).size).toBe(1);
  expect(found[0]).toMatch(format);
  expect(await stored(key)).toHaveLength(1);
});

test.each([{}, { webhookSecret: shared }])('rotations at once follow each other, with %j', async (config) => {
  const key = randomUUID();
  const calls = Array.from({ length: 8 }, (_, i) =>
    i % 4 === 3 ? secretsOf(config).secretOf(key) : secretsOf(config).rotate(key),
  );
  const made = await Promise.all(calls);
  const [newest] = await secretsOf(config).all(key);
  expect(made).toContain(newest);
  expect(await stored(key)).toHaveLength(2);
});

test('the last two secrets are valid after each rotation, the newest first', async () => {
  const key = randomUUID();
  const first = await secretsOf().secretOf(key);
  const second = await secretsOf().rotate(key);
  expect(await secretsOf().secretsOf(key)).toEqual([second, first]);
  const third = await secretsOf().rotate(key);
  expect(await secretsOf().secretsOf(key)).toEqual([third, second]);
});

test('the older secret is no longer valid after its expiry', async () => {
  const key = randomUUID();
  await secretsOf().secretOf(key);
  const newest = await secretsOf().rotate(key);
  await dataSource.query(`UPDATE webhook_secret SET expires_at = now() WHERE expires_at IS NOT NULL`);
  expect(await secretsOf().secretsOf(key)).toEqual([newest]);
});

describe('WEBHOOK_SECRET', () => {
  test('is used for keys without their own secret, and nothing is stored', async () => {
    const key = randomUUID();
    expect(await secretsOf({ webhookSecret: shared }).secretOf(key)).toBe(shared);
    expect(await stored(key)).toEqual([]);
  });

  test('is not used for a key with its own secret', async () => {
    const key = randomUUID();
    const own = await secretsOf().secretOf(key);
    expect(await secretsOf({ webhookSecret: shared }).secretsOf(key)).toEqual([own]);
  });

  test('remains valid in addition to the first own secret of a key', async () => {
    const key = randomUUID();
    const secrets = secretsOf({ webhookSecret: shared });
    const own = await secrets.rotate(key);
    expect(await secrets.secretsOf(key)).toEqual([own, shared]);
  });
});

describe('SECRETS_KEY', () => {
  const secretsKey = randomBytes(32);

  test('encrypts the secrets in the database', async () => {
    const key = randomUUID();
    const secret = await secretsOf({ secretsKey }).secretOf(key);
    expect(secret).toMatch(format);
    const [row] = await stored(key);
    expect(row!.isSealed).toBe(true);
    expect(row!.secret.toString('latin1')).not.toContain('whsec_');
    expect(await secretsOf({ secretsKey }).secretOf(key)).toBe(secret);
  });

  test('may be set later, and earlier secrets can still be read', async () => {
    const key = randomUUID();
    const secret = await secretsOf().secretOf(key);
    expect(await secretsOf({ secretsKey }).secretOf(key)).toBe(secret);
  });

  test.each([
    ['is missing', {}],
    ['is another', { secretsKey: randomBytes(32) }],
  ])('that %s is named in the error, and the secret can be rotated', async (_what, config) => {
    const key = randomUUID();
    await secretsOf({ secretsKey }).secretOf(key);
    await expect(secretsOf(config).secretOf(key)).rejects.toThrow(
      /SECRETS_KEY is not the key that encrypted it/,
    );
    const rotated = await secretsOf(config).rotate(key);
    expect(rotated).toMatch(format);
    // Nothing can be signed with the lost one any more.
    expect(await secretsOf(config).all(key)).toEqual([rotated]);
    const again = await secretsOf(config).rotate(key);
    expect(await secretsOf(config).all(key)).toEqual([again, rotated]);
  });
});
