import { CommanderError } from 'commander';
import { KeySecret } from '../key-secret.js';
import type { ApiKey } from '../api-key.entity.js';
import type { KeyChanges, NewKey } from '../keys.service.js';
import { type KeyCommands, keysProgram } from './keys-program.js';

interface Outcome {
  /** What was asked of the keys, if the command line was understood. */
  added?: NewKey;
  changed?: KeyChanges;
  error?: CommanderError;
}

async function run(...args: string[]): Promise<Outcome> {
  const outcome: Outcome = {};
  const create = (added: NewKey): Promise<KeySecret> => {
    outcome.added = added;
    return Promise.resolve(KeySecret.generate());
  };
  const list = (): Promise<ApiKey[]> => Promise.resolve([{ name: 'ci', weight: 1 } as ApiKey]);
  const update = (_: string, changed: KeyChanges): Promise<boolean> => {
    outcome.changed = changed;
    return Promise.resolve(true);
  };
  const program = keysProgram(async (work) => void (await work({ create, list, update } as KeyCommands)));
  for (const command of [program, ...program.commands]) {
    command.exitOverride().configureOutput({ writeErr: () => undefined, writeOut: () => undefined });
  }
  await program.parseAsync(args, { from: 'user' }).catch((error: CommanderError) => (outcome.error = error));
  return outcome;
}

test.each([
  [['create'], 'the key needs a name'],
  [['create', '--name', ' '], 'Expected 1 to 100 printable characters'],
  [['create', '--name', 'two\nlines'], 'Expected 1 to 100 printable characters'],
  [['create', '--name', 'x', '--scope', 'write'], 'Expected one of submit, read, cancel'],
  [['create', '--name', 'x', '--model', '*'], 'Expected a model id such as'],
  [['create', '--name', 'x', '--model', 'a//b'], 'Expected a model id such as'],
  [['create', '--name', 'x', '--rate-limit-submit', 'fast'], 'Expected limits such as 10/s,100/m'],
  [['create', '--name', 'x', '--expires', 'soon'], 'Expected a duration such as'],
  [['create', '--name', 'x', '--expires', '0s'], 'Expected a time in the future'],
  [['create', '--name', 'x', '--expires', '2020-01-01'], 'Expected a time in the future'],
  [['create', '--name', 'x', '--expires', '2099-13-01'], 'Expected a time as in RFC 3339'],
  [['create', '--name', 'x', '--expires', '2099-02-29'], 'Expected a time as in RFC 3339'],
  [['create', '--name', 'x', '--expires', '2099-04-31T08:00:00Z'], 'Expected a time as in RFC 3339'],
  [['create', '--name', 'x', 'y'], 'too many arguments'],
  [['create', '--name', 'x', '--weight', '0'], 'Expected a number from 0.01 to 1000'],
  [['create', '--name', 'x', '--weight', '1001'], 'Expected a number from 0.01 to 1000'],
  [['create', '--name', 'x', '--weight', '1e2'], 'Expected a number from 0.01 to 1000'],
  [['create', '--name', 'x', '--max-running', '0'], 'Expected a whole number from 1 to 999999'],
  [['update', 'ci'], 'nothing to change'],
  [['update', 'ci', '--rate-limit-batch', 'none'], 'Expected limits such as 10/s,100/m'],
  [['update', 'ci', '--max-waiting', '0'], 'Expected a whole number from 1 to'],
  [['update', '--weight', '2'], "missing required argument 'key'"],
  [['revoke'], "missing required argument 'key'"],
])('%j is refused with an explanation', async (args, said) => {
  const { error, added } = await run(...args);
  expect(error).toBeInstanceOf(CommanderError);
  expect(error!.message).toContain(said);
  expect(added).toBeUndefined();
});

test('omitted options are left to the defaults of the store', async () =>
  expect((await run('create', '--name', ' web shop ')).added).toEqual({ name: 'web shop' }));

test('repeated options add up', async () => {
  const args = ['--scope', 'submit', '-s', 'read', '--model', 'acme/*', '-m', 'demo/text/echo'];
  expect((await run('create', '--name', 'x', ...args)).added).toMatchObject({
    scopes: ['submit', 'read'],
    models: ['acme/*', 'demo/text/echo'],
  });
});

test('an expiry is a duration from now or a date', async () => {
  expect((await run('create', '-n', 'x', '-e', '12h')).added?.expires).toEqual({ inMs: 43_200_000 });
  expect((await run('create', '-n', 'x', '-e', '2099-12-31T23:00:00+01:00')).added?.expires).toEqual({
    at: new Date('2099-12-31T22:00:00Z'),
  });
});

test('an update changes only the given options', async () => {
  expect((await run('update', 'ci', '--weight', '0.5')).changed).toEqual({ weight: 0.5 });
  expect((await run('update', 'ci', '--max-running', '3', '--weight', '1000')).changed).toEqual({
    maxRunning: 3,
    weight: 1_000,
  });
  expect((await run('update', 'ci', '--max-running', 'off')).changed).toEqual({ maxRunning: null });
  const limits = ['--rate-limit-submit', '5/s', '--rate-limit-other', 'OFF', '--rate-limit-batch', 'default'];
  expect((await run('update', 'ci', ...limits, '--max-waiting', 'off')).changed).toEqual({
    rateLimitSubmit: '5/s',
    rateLimitOther: 'off',
    rateLimitBatch: null,
    maxWaiting: null,
  });
});
