import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { secretVariables } from '../tools/redaction.js';
import { loadConfig, redacted } from './config.js';
import { valueOrFile } from './secret-files.js';

let directory: string;
beforeAll(() => (directory = mkdtempSync(join(tmpdir(), 'nowserving-secrets-'))));
afterAll(() => rmSync(directory, { recursive: true }));

function file(content: string): string {
  const path = join(directory, 'secret');
  writeFileSync(path, content);
  return path;
}

it.each(secretVariables)('%s may be in a file, and the last newline of the file does not count', (name) => {
  const value = /DATABASE/.test(name)
    ? 'postgres://app:hush@db/queue'
    : name === 'WEBHOOK_SECRET'
      ? `whsec_${Buffer.alloc(32, 7).toString('base64')}`
      : Buffer.alloc(32, 7).toString('base64');
  const others = name === 'DATABASE_DIRECT_URL' ? { DATABASE_URL: 'postgres://pooler/queue' } : {};
  const variables = { ...others, [`${name}_FILE`]: file(`${value}\n`) };
  const inFile = loadConfig(variables);
  expect(inFile).toEqual(loadConfig({ ...others, [name]: value }));
  expect(inFile.environment).toEqual({ ...others, [name]: value });
  expect(redacted(`${value} is wrong`, variables)).not.toContain(value);
});

it('states the error of a secret file, without the content and the name of the file', () => {
  const path = file(' \n');
  const load = (variables: Record<string, string>) => () => loadConfig(variables);
  const begin = 'These settings are wrong:\n  DATABASE_URL_FILE: ';
  expect(load({ DATABASE_URL_FILE: join(directory, 'none') })).toThrow(
    `${begin}the file that it names cannot be read (ENOENT)`,
  );
  expect(load({ DATABASE_URL_FILE: directory })).toThrow(/cannot be read \(EISDIR\)$/);
  expect(load({ DATABASE_URL_FILE: path })).toThrow(`${begin}the file that it names is empty`);
  expect(load({ DATABASE_URL_FILE: path, DATABASE_URL: 'postgres://a/b' })).toThrow(
    `${begin}set DATABASE_URL or DATABASE_URL_FILE, not both`,
  );
  expect(load({ DATABASE_URL_FILE: 'postgres://app:hush@db/queue' })).not.toThrow(/hush/);
  expect(load({ SECRETS_KEY_FILE: file('hush hush'), PORT: 'x' })).toThrow(
    /^These settings are wrong:\n.*PORT: .*\n {2}SECRETS_KEY: expected 32 random bytes in base64 or hex/,
  );
});

it('a variable is read without the line end of a file', () => {
  expect(valueOrFile('TOKEN', { TOKEN: ' hush \r\n' })).toBe(' hush ');
  expect(valueOrFile('TOKEN', { TOKEN: '\n' })).toBeUndefined();
});
