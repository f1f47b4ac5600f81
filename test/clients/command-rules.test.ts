import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArguments, UsageError } from '../../clients/typescript/src/worker/command/arguments.js';
import { environmentOf } from '../../clients/typescript/src/worker/command/environment.js';
import { errorOf, startError } from '../../clients/typescript/src/worker/command/exit-codes.js';
import { Lines } from '../../clients/typescript/src/worker/command/lines.js';
import { fileIn, withUploads } from '../../clients/typescript/src/worker/command/output-files.js';
import { readerOf, type StdoutForm } from '../../clients/typescript/src/worker/command/stdout.js';
import { Fail, HandBack, Retry } from '../../clients/typescript/src/worker/failures.js';
import { JsonText } from '../../clients/typescript/src/worker/json-text.js';
import { temporaryDirectory } from '../support/data-directory.js';

test('exit codes: 64 to 66 are final, 78, 126 and 127 hand back, all others may be tried again', () => {
  const kindOf = (code: number): unknown => errorOf({ code, signal: null })?.constructor;
  expect(kindOf(0)).toBeUndefined();
  const of = (kind: unknown): number[] =>
    Array.from({ length: 255 }, (_, i) => i + 1).filter((code) => kindOf(code) === kind);
  expect(of(Fail)).toEqual([64, 65, 66]);
  expect(of(HandBack)).toEqual([78, 126, 127]);
  expect(of(Retry)).toHaveLength(255 - 6);
  expect(errorOf({ code: null, signal: 'SIGKILL' })).toBeInstanceOf(Retry);
});

test('a missing command hands its run back; a shortage of processes leads to a retry', () => {
  const kindOf = (code: string): unknown => startError(Object.assign(new Error(code), { code })).constructor;
  expect(['ENOENT', 'EACCES', 'EAGAIN'].map(kindOf)).toEqual([HandBack, HandBack, Retry]);
});

const run = {
  requestId: 'an-id',
  attempt: 2,
  model: 'me/x',
  deadline: new Date(0),
  traceparent: '00-ab-cd-01',
};

test('a command gets only the listed environment variables, and never the key', () => {
  const own = {
    PATH: '/bin',
    HOME: '/root',
    LANG: 'C',
    TZ: 'UTC',
    AWS_SECRET_ACCESS_KEY: 's',
    NOWSERVING_KEY: 'ns_key',
    NOWSERVING_URL: 'http://queue',
    HF_HOME: '/models',
    NODE_OPTIONS: '--inspect',
  };
  expect(environmentOf(own, ['HF_HOME', 'MISSING', 'NOWSERVING_KEY'], run, '/out')).toEqual({
    PATH: '/bin',
    HOME: '/root',
    LANG: 'C',
    TZ: 'UTC',
    HF_HOME: '/models',
    NS_REQUEST_ID: 'an-id',
    NS_ATTEMPT: '2',
    NS_MODEL: 'me/x',
    NS_DEADLINE: '1970-01-01T00:00:00.000Z',
    NS_OUTPUT_DIR: '/out',
    TRACEPARENT: '00-ab-cd-01',
  });
});

test('options end at --, and the command follows', () => {
  const given = ['work', '--model', 'me/x', '--concurrency=3', '--stdout', 'text', '--kill-after', '500ms'];
  const more = ['--env', 'A', '--env', 'B', '--label', 'gpu=a100', '--', 'prog', '--model', '-x', '--'];
  expect(parseArguments([...given, ...more])).toEqual({
    model: 'me/x',
    command: {
      command: 'prog',
      args: ['--model', '-x', '--'],
      stdout: 'text',
      killAfterMs: 500,
      env: ['A', 'B'],
    },
    options: { concurrency: 3, grace: 25_000, stuck: 30_000, labels: { gpu: 'a100' } },
  });
});

test('a worker waits for a command for longer than --kill-after', () => {
  const given = parseArguments(['work', '--model', 'm', '--kill-after', '2m', '--', 'x']);
  expect(given!.options.stuck).toBe(250_000);
});

test('the folder of a command is relative to the folder in which the worker starts', () => {
  const { command } = parseArguments(['work', '--model', 'm', '--cwd', 'a', '--files', '--', 'x'])!;
  expect(command).toMatchObject({ cwd: resolve('a'), files: true });
});

test('the option --ready names a backend to wait for', () => {
  const given = parseArguments(['work', '--model', 'm', '--ready', 'http://gpu/health', '--', 'x']);
  expect(given!.options.ready).toBe('http://gpu/health');
});

test.each([
  [['work', '--', 'x'], 'The model is missing. Give --model <id>.'],
  [['work', '--model', 'a'], 'The command is missing. Write it after --.'],
  [['work', '--model', 'a', 'x'], '"x" is not an option. Write the command after --.'],
  [['run', '--', 'x'], 'There is no command "run". The only command is "work".'],
  [
    ['work', '--model', 'a', '--concurrency', '0', '--', 'x'],
    '--concurrency must be a number of at least 1, not "0".',
  ],
  [
    ['work', '--model', 'a', '--stdout', 'xml', '--', 'x'],
    '--stdout must be json, ndjson or text, not "xml".',
  ],
  [
    ['work', '--model', 'a', '--kill-after', 'soon', '--', 'x'],
    '--kill-after must be a time such as 500ms, 10s or 2m, not "soon".',
  ],
  [
    ['work', '--model', 'a', '--env', 'NOWSERVING_KEY', '--', 'x'],
    'The key of the worker is never passed to a command.',
  ],
  [['work', '--model', 'a', '--env', 'A=b', '--', 'x'], '"A=b" is not the name of an environment variable.'],
  [['work', '--key', 'a', '--', 'x'], "Unknown option '--key'"],
])('the arguments %j are refused with an explanation', (argv, message) => {
  expect(() => parseArguments(argv)).toThrow(UsageError);
  expect(() => parseArguments(argv)).toThrow(message);
});

test('no arguments and --help ask for the help text', () => {
  for (const argv of [[], ['--help'], ['work', '--help']]) expect(parseArguments(argv)).toBeUndefined();
});

test('lines end with LF, CR LF or CR, and may come in pieces', () => {
  const lines = new Lines(/\r\n|\n|\r/, 100);
  const pieces = ['a\nb', 'c\r\n 10 %\r 20 %', '\r\n\n', 'ü'].map((text) => Buffer.from(text));
  pieces.push(pieces[3]!.subarray(0, 1), pieces[3]!.subarray(1));
  expect([...pieces.flatMap((piece) => lines.push(piece)), ...lines.end()]).toEqual([
    'a',
    'bc',
    ' 10 %',
    ' 20 %',
    'üü',
  ]);
});

test('a long line may come in many pieces', () => {
  const lines = new Lines(/\r?\n/, 2 ** 28);
  const piece = Buffer.alloc(2 ** 16, 'a');
  for (let i = 0; i < 1_000; i++) expect(lines.push(piece)).toEqual([]);
  expect(lines.push(Buffer.from('\r\nb')).map(({ length }) => length)).toEqual([1_000 * piece.length]);
  expect(lines.end()).toEqual(['b']);
});

test('a line longer than the limit is split into pieces', () => {
  const lines = new Lines(/\n/, 4);
  expect(lines.push(Buffer.from('abcdefghij'))).toEqual(['abcd', 'efgh']);
  expect(lines.end()).toEqual(['ij']);
});

const said: unknown[] = [];
beforeEach(() => said.splice(0));
const listener = {
  log: (message: string, level = 'INFO', source?: string) =>
    void said.push(source === undefined ? [level, message] : [level, message, source]),
  progress: (value: number, message?: string) => void said.push([value, message]),
  usage: (used: object) => void said.push(used),
};

function read(form: StdoutForm, ...printed: string[]) {
  const reader = readerOf(form, listener);
  const deltas = [...printed.flatMap((text) => reader.push(Buffer.from(text))), ...reader.end()];
  return { deltas, error: reader.error, output: () => reader.output() };
}

test('json: the output is one value, in any number of pieces', () => {
  expect(read('json', '{"a"', ':[1', ']}\n').output()).toBe('{"a":[1]}');
  expect(() => read('json', '').output()).toThrow('The command ended without an output.');
  expect(() => read('json', '{} {}').output()).toThrow('is not one JSON value');
});

test('text: each piece becomes a delta that splits no character', () => {
  const reader = readerOf('text', listener);
  const bytes = Buffer.from('aü');
  expect([...reader.push(bytes.subarray(0, 2)), ...reader.push(bytes.subarray(2)), ...reader.end()]).toEqual([
    'a',
    'ü',
  ]);
  expect(reader.output()).toBeUndefined();
  expect(() => read('text').output()).toThrow('The command ended without an output.');
});

test('ndjson: lines are logs, progress, deltas and the output', () => {
  const line = (event: object): string => `${JSON.stringify(event)}\n`;
  const { deltas, output } = read(
    'ndjson',
    line({ type: 'log', level: 'warning', message: 'hot' }),
    line({ type: 'progress', value: 0.5, message: 'half' }),
    line({ type: 'delta', delta: 'a' }) + line({ type: 'delta', delta: { b: 1 } }),
    line({ type: 'sparkle' }),
    line({ type: 'output', output: null }) + line({ type: 'output', output: 2 }),
  );
  expect(deltas).toEqual(['a', new JsonText('{"b":1}')]);
  expect(output()).toBe('null');
  expect(said).toEqual([
    ['WARN', 'hot'],
    [0.5, 'half'],
    ['WARN', 'A line of the type "sparkle" cannot be used and is ignored.'],
  ]);
});

test('ndjson: usage and the source of a log line are kept', () => {
  const usage = { tokens: { input: 4, output: 3 } };
  read(
    'ndjson',
    ...[
      { type: 'usage', usage },
      { type: 'usage', usage: [4] },
      { type: 'log', message: 'ready', source: 'stdout' },
      { type: 'log', message: 'ready', source: 'elsewhere' },
    ].map((event) => `${JSON.stringify(event)}\n`),
  );
  expect(said).toEqual([
    usage,
    ['WARN', 'A line of the type "usage" cannot be used and is ignored.'],
    ['INFO', 'ready', 'stdout'],
    ['INFO', 'ready'],
  ]);
});

test('numbers that JavaScript cannot hold stay as they were printed', () => {
  const numbers = '{"n": 12345678901234567890, "f": 1.0, "e": 1e400}';
  expect(read('json', ` ${numbers}\n`).output()).toBe(numbers);
  const { deltas, output } = read(
    'ndjson',
    `{"delta":${numbers},"type":"delta"}\n{"type":"output","output":${numbers}}`,
  );
  expect([deltas, output()]).toEqual([[new JsonText(numbers)], numbers]);
});

test('ndjson: an error is final unless it is marked as retryable', () => {
  expect(read('ndjson', '{"type":"error","message":"no"}').error).toEqual(new Fail('no'));
  expect(read('ndjson', '{"type":"error","message":"no","retryable":true}').error).toBeInstanceOf(Retry);
  expect(() => read('ndjson', 'plain\n')).toThrow('a line that is not a JSON object with a "type"');
  expect(() => read('ndjson', '').output()).toThrow('The command ended without an output line.');
});

test('files of the output folder are uploaded once each, wherever the output names them', async () => {
  const folder = await temporaryDirectory();
  await mkdir(join(folder, 'sub'));
  await writeFile(join(folder, 'a.png'), 'a');
  await writeFile(join(folder, 'sub/b.png'), 'b');
  await symlink('a.png', join(folder, 'again.png'));
  const uploads: string[] = [];
  const output = (one: string, two: string, again: string): string =>
    `{ "image": ${one}, "more":[${two}, {"again" : ${again}}],
      "text":"a file:a.png", "url": "file:///a", "file:a.png" : 1.0, "n": 12345678901234567890 }`;
  const named = output('"file:a.png"', '"file:sub\\/b.png"', '"\\u0066ile:again.png"');
  const replaced = await withUploads(named, folder, async (name, path) => {
    uploads.push(path);
    return `https://files/${name}`;
  });
  expect(replaced).toBe(output('"https://files/a.png"', '"https://files/b.png"', '"https://files/a.png"'));
  expect(uploads).toEqual([join(folder, 'a.png'), join(folder, 'sub/b.png')]);
});

test.each([
  ['', 'not a path'],
  ['/etc/passwd', 'not a path'],
  ['a\0.png', 'not a path'],
  ['../secret', 'outside'],
  ['sub/../../secret', 'outside'],
  ['.', 'outside'],
  ['link', 'leads out'],
  ['folder/secret', 'leads out'],
  ['sub', 'not a regular file'],
  ['missing.png', 'does not exist'],
])('the file name "%s" is refused', async (name, why) => {
  const outside = await temporaryDirectory();
  const folder = join(outside, 'out');
  await mkdir(join(folder, 'sub'), { recursive: true });
  await writeFile(join(outside, 'secret'), 's');
  await symlink('../secret', join(folder, 'link'));
  await symlink('..', join(folder, 'folder'));
  await expect(fileIn(folder, name)).rejects.toThrow(Fail);
  await expect(fileIn(folder, name)).rejects.toThrow(why);
});
