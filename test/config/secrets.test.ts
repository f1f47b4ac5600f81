import fc from 'fast-check';
import { ConfigError, loadConfig, redacted } from '../../src/config/config.js';
import { reachDatabase } from '../../src/database/reach.js';
import { parseModels } from '../../src/models/models-file.js';
import { runnerKinds } from '../../src/runners/runners.module.js';

/**
 * A secret of letters that no message of ours has, and of characters that mean something in a URL, in YAML or in a log
 * line.
 */
const secret = fc
  .array(fc.constantFrom(...'QXZJVKWY/#?%@: \\"\'&=*!{}[]|,~<>$`^+;'.split('')), {
    minLength: 8,
    maxLength: 24,
  })
  .map((parts) => parts.join(''))
  .filter((text) => /[A-Z]{2}/.test(text));

/**
 * Looks for four consecutive characters of the secret with two letters among them, because any text may contain shorter
 * ones by chance.
 */
function expectHidden(message: string, text: string): void {
  for (let i = 0; i + 4 <= text.length; i++) {
    const piece = text.slice(i, i + 4);
    if (/[A-Z].*[A-Z]/.test(piece) && message.includes(piece))
      throw new Error(`${JSON.stringify(message)} has ${JSON.stringify(piece)} of ${JSON.stringify(text)}`);
  }
}

/** Returns the lines that the start would print; empty: the start would succeed. */
async function printed(environment: Record<string, string>): Promise<string> {
  try {
    const { databaseUrl, databaseDirectUrl } = loadConfig(environment);
    const url = databaseDirectUrl ?? databaseUrl;
    if (url !== undefined) await reachDatabase(url, { waitMs: 0 });
    return '';
  } catch (error) {
    return redacted((error as Error).message, environment);
  }
}

test.each(['DATABASE_URL', 'DATABASE_DIRECT_URL'])('no part of a password in %s is printed', async (name) => {
  await fc.assert(
    fc.asyncProperty(secret, fc.boolean(), async (text, isUser) => {
      const userInfo = isUser ? `${text}:x` : `app:${text}`;
      // Port 1 of this machine, where nothing answers.
      const url = `postgres://${userInfo}@127.0.0.1:1/queue`;
      expectHidden(await printed({ DATABASE_URL: 'postgres://127.0.0.1:1/queue', [name]: url }), text);
    }),
    { numRuns: 300 },
  );
});

test.each([
  'BOOTSTRAP_API_KEY',
  'WEBHOOK_SECRET',
  'SECRETS_KEY',
  'S3_ENDPOINT',
  'PUBLIC_BASE_URL',
  'OIDC_ISSUER',
  'OIDC_CLIENT_SECRET',
])('no part of a wrong %s is printed', async (name) => {
  await fc.assert(
    fc.asyncProperty(secret, async (text) => {
      const value = /ENDPOINT|BASE|ISSUER/.test(name) ? `https://app:${text}@host/` : text;
      expectHidden(await printed({ [name]: value }), text);
    }),
    { numRuns: 100 },
  );
});

test('no part of a secret in models.yaml, or in a variable that it names, is printed', () => {
  const files = [
    (text: string) => `headers: { authorization: ${text} }`,
    (text: string) => `headers: { authorization: "${text} }`,
    (text: string) => `headers:\n        authorization: ${text}`,
    (text: string) => `url: http://app:${text}@127.0.0.1:1/`,
    (text: string) => `url: ${text}`,
    () => 'headers: { authorization: "${HUSH}" }',
    () => 'url: "http://app:${HUSH}@127.0.0.1:1/"',
  ];
  fc.assert(
    fc.property(secret, fc.constantFrom(...files), (text, make) => {
      const url = make(text).startsWith('url') ? '' : 'url: http://127.0.0.1:1/\n      ';
      const file = `models:\n  - id: a/b\n    runner:\n      kind: http\n      ${url}${make(text)}\n`;
      try {
        parseModels(file, 'models.yaml', { HUSH: text }, runnerKinds);
      } catch (error) {
        expect(error).toBeInstanceOf(ConfigError);
        expectHidden(redacted((error as Error).message, {}), text);
      }
    }),
    {
      numRuns: 500,
      // YAML tags without a suffix, and of the verbatim form.
      examples: ['!QQXZ!]QQQQQQQQ', '!QQXZ!', '!<QQXZ', '!<!>QQXZ', '!<!QQXZ>'].map((text) => [
        text,
        files[0]!,
      ]),
    },
  );
});
