import { loadConfig } from './config.js';

const encode = /DATABASE_URL: the user name and the password must be percent-encoded: % as %25, \/ as %2F/;

it.each(['12/34secret', 'a#b', 'pa%ss', 'p?ss', 'p@ss/hush', 'p\tss', '%ff'])(
  'a password like %s is refused with the correct encoding, and is not shown',
  (password) => {
    const load = (): unknown => loadConfig({ DATABASE_URL: `postgres://app:${password}@db.internal/queue` });
    expect(load).toThrow(encode);
    expect(load).not.toThrow(/secret|hush|db\.internal/);
  },
);

it.each(['p@ss', 'p:ss', 'p ss', 'p\\ss', '12%2F34%23%3F%40%25', 'pä'])(
  'a password like %s is accepted, and a URL parser reads it unchanged',
  (password) => {
    const { databaseUrl } = loadConfig({ DATABASE_URL: `postgres://app:${password}@db.internal/queue` });
    const url = new URL(databaseUrl!);
    expect(decodeURIComponent(url.password)).toBe(decodeURIComponent(password));
    expect([url.host, url.pathname]).toEqual(['db.internal', '/queue']);
  },
);

it.each(['PUBLIC_BASE_URL', 'S3_ENDPOINT', 'OIDC_ISSUER'])(
  '%s must not contain a user name or a password',
  (name) => {
    for (const value of ['https://user:hush@host/', 'https://hush@host', 'https://user:hu/sh@host'])
      expect(() => loadConfig({ [name]: value })).toThrow(new RegExp(`${name}: (expected|the user name)`));
  },
);

it('a URL whose path has an @ is taken', () => {
  expect(loadConfig({ S3_ENDPOINT: 'http://host:9000/a@1' }).s3Endpoint).toBe('http://host:9000/a@1');
});

it.each([':', '/', '#', '?', '@'])('a password with %s is refused or taken whole', (sign) => {
  const load = (): string =>
    loadConfig({ DATABASE_URL: `postgres://app:12${sign}34secret@db.internal/queue` }).databaseUrl!;
  if (':@'.includes(sign)) expect(decodeURIComponent(new URL(load()).password)).toBe(`12${sign}34secret`);
  else expect(load).toThrow(encode);
});

it.each(['prefer', 'require', 'verify-ca'])(
  'sslmode=%s becomes verify-full, unless uselibpqcompat is true',
  (mode) => {
    const read = (query: string): string =>
      loadConfig({ DATABASE_URL: `postgres://a/b?${query}` }).databaseUrl!;
    expect(read(`sslmode=${mode}`)).toBe('postgres://a/b?sslmode=verify-full');
    expect(read(`uselibpqcompat=true&sslmode=${mode}`)).toBe(
      `postgres://a/b?uselibpqcompat=true&sslmode=${mode}`,
    );
  },
);
