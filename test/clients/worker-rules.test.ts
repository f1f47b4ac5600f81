import { Backoff, Hold } from '../../clients/typescript/src/worker/backoff.js';
import { EventSender, piecesOf, type Sent } from '../../clients/typescript/src/worker/event-sender.js';
import {
  Fail,
  failureOf,
  Retry,
  Stopped,
  TransferError,
} from '../../clients/typescript/src/worker/failures.js';
import { sourceOf, targetOf, typeOf } from '../../clients/typescript/src/worker/files.js';
import { until } from '../support/until.js';

test('pauses are anywhere within a window that doubles from 1 s to 64 s', () => {
  const latest = new Backoff(undefined, () => 1);
  expect(Array.from({ length: 9 }, () => latest.next())).toEqual(
    [1, 2, 4, 8, 16, 32, 64, 64, 64].map((seconds) => seconds * 1_000),
  );
  const earliest = new Backoff(undefined, () => 0);
  expect(Array.from({ length: 9 }, () => earliest.next())).toEqual(Array.from({ length: 9 }, () => 0));
});

test('a pause is never shorter than the service asked for', () => {
  const backoff = new Backoff(undefined, () => 0);
  expect(backoff.next(7)).toBe(7_000);
  expect(new Backoff(undefined, () => 0.5).next(7)).toBe(7_500);
});

test('long polls get shorter after broken connections, and longer again after answers', () => {
  const hold = new Hold(20);
  const after = (what: () => void): number => {
    what();
    return hold.seconds;
  };
  expect(after(() => hold.broken(10))).toBe(20);
  expect([4_000, 4_000, 4_000, 4_000, 4_000].map((ms) => after(() => hold.broken(ms)))).toEqual([
    10, 5, 2, 1, 1,
  ]);
  expect([1, 2, 3].map(() => after(() => hold.answered()))).toEqual([2, 3, 4]);
  for (let i = 0; i < 50; i++) hold.answered();
  expect(hold.seconds).toBe(20);
});

interface Batch {
  from: number;
  messages: unknown[];
}

/** A sender whose batches are answered by hand; without an answer it accepts all of a batch. */
function sender(answers: ((batch: Batch) => Sent | Promise<Sent>)[] = []) {
  const batches: Batch[] = [];
  const events = new EventSender(async (lines, from) => {
    const parsed = lines
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const messages = parsed.map(({ message, delta, value, usage }) => message ?? delta ?? value ?? usage);
    const batch = { from, messages };
    batches.push(batch);
    return (await answers.shift()?.(batch)) ?? { next: from + messages.length };
  });
  const log = (message: string): void => events.add({ type: 'log', level: 'INFO', message });
  const delta = (value: unknown): void => events.add({ type: 'delta', delta: value });
  return { events, batches, log, delta };
}

test('the first event is sent at once, and the next ones together in one batch', async () => {
  const { events, batches, log } = sender();
  log('a');
  await until(() => batches.length === 1);
  for (const message of ['b', 'c', 'd']) log(message);
  await events.flush();
  expect(batches).toEqual([
    { from: 0, messages: ['a'] },
    { from: 1, messages: ['b', 'c', 'd'] },
  ]);
});

test('a batch has at most 16 KiB, and a larger event is sent by itself', async () => {
  const { events, batches, delta } = sender();
  const texts = ['x'.repeat(40_000), ...Array.from({ length: 5 }, (_, i) => String(i).repeat(6_000))];
  texts.forEach(delta);
  await events.flush();
  expect(batches.map(({ messages }) => messages.length)).toEqual([1, 2, 2, 1]);
  expect(batches.flatMap(({ messages }) => messages)).toEqual(texts);
});

test('events that the service did not accept are sent again from the number that it returns', async () => {
  const { events, batches, log } = sender([() => ({ next: 1 }), () => ({ next: 2 }), () => ({ next: 2 })]);
  for (const message of ['a', 'b', 'c', 'd']) log(message);
  await events.flush();
  expect(batches).toEqual([
    { from: 0, messages: ['a', 'b', 'c', 'd'] },
    { from: 1, messages: ['b', 'c', 'd'] },
    { from: 2, messages: ['c', 'd'] },
    { from: 2, messages: ['c', 'd'] },
  ]);
});

test('events that arrived although their answer was lost are not sent again', async () => {
  const { events, batches, log } = sender([() => ({ next: 3 })]);
  for (const message of ['a', 'b', 'c', 'd']) log(message);
  await events.flush();
  expect(batches[1]).toEqual({ from: 3, messages: ['d'] });
});

test('a refused batch is sent event by event, and a refused event leaves no gap in the numbers', async () => {
  const refused: Sent = { refused: 'A delta has 64 KiB at most.' };
  const { events, batches, delta } = sender([
    () => refused,
    () => ({ next: 1 }),
    () => refused,
    () => refused,
  ]);
  ['a', 'b', 'c'].forEach(delta);
  await events.flush();
  expect(batches).toEqual([
    { from: 0, messages: ['a', 'b', 'c'] },
    { from: 0, messages: ['a'] },
    { from: 1, messages: ['b', 'c'] },
    { from: 1, messages: ['b'] },
    { from: 1, messages: ['c'] },
  ]);
  expect(events.refusal).toBe('A delta has 64 KiB at most.');
});

test('only the last of several waiting usages is sent', async () => {
  const { events, batches } = sender();
  events.add({ type: 'usage', usage: { tokens: 0 } });
  await until(() => batches.length === 1);
  for (const tokens of [1, 2, 3]) events.add({ type: 'usage', usage: { tokens } });
  await events.flush();
  expect(batches[1]!.messages).toEqual([{ tokens: 3 }]);
});

test('only the last of several waiting progress events is sent', async () => {
  const { events, batches } = sender();
  events.add({ type: 'progress', value: 0 });
  await until(() => batches.length === 1);
  for (const value of [0.1, 0.2, 0.3]) events.add({ type: 'progress', value });
  await events.flush();
  expect(batches[1]!.messages).toEqual([0.3]);
});

test('waiting log lines are dropped beyond a limit, and their number is logged', async () => {
  let take = (): void => undefined;
  const { events, batches, log } = sender([
    ({ messages }) => new Promise((resolve) => (take = () => resolve({ next: messages.length }))),
  ]);
  for (let i = 0; i < 2_000; i++) log('x'.repeat(1_000));
  await until(() => batches.length === 1);
  take();
  await events.flush();
  const said = batches.flatMap(({ messages }) => messages as string[]);
  const dropped = Number(/^(\d+) log lines were dropped/.exec(said.at(-1)!)![1]);
  expect(dropped).toBe(2_000 - (said.length - 1));
  expect(dropped).toBeGreaterThan(800);
});

test.each([
  ['the lease ends', (events: EventSender) => events.close()],
  ['the run must stop', (events: EventSender) => events.stopWaiting()],
])('a generator waits while too much is pending, and continues when %s', async (_name, end) => {
  const { events, delta } = sender([() => new Promise<Sent>(() => undefined)]);
  for (let i = 0; i < 200; i++) delta('x'.repeat(8_000));
  let hasRoom = false;
  const room = events.room().then(() => (hasRoom = true));
  await Promise.resolve();
  expect(hasRoom).toBe(false);
  end(events);
  await room;
});

test('a long text is sent in pieces that split no character', () => {
  const text = `${'x'.repeat(8_191)}😀${'y'.repeat(9_000)}`;
  const pieces = piecesOf(text) as string[];
  expect(pieces.join('')).toBe(text);
  expect(pieces.length).toBe(3);
  for (const piece of pieces) expect(piece).toBe(piece.toWellFormed());
  expect(piecesOf({ any: 'value' })).toEqual([{ any: 'value' }]);
});

test.each<[string, unknown, object]>([
  [
    'a Fail is final, with all it has',
    new Fail('no prompt', { status: 422, details: { at: 'prompt' } }),
    { message: 'no prompt', retryable: false, status: 422, details: { at: 'prompt' } },
  ],
  [
    'a Retry says when',
    new Retry({ after: 5, message: 'busy' }),
    { message: 'busy', retryable: true, retry_after_s: 5 },
  ],
  [
    'a Retry with a text says it',
    new Retry('busy', { after: 5 }),
    { message: 'busy', retryable: true, retry_after_s: 5 },
  ],
  [
    'a file that is not there is final',
    new TransferError('The file "a.png" does not exist.', { status: 404 }),
    { message: 'The file "a.png" does not exist.', retryable: false, status: 422 },
  ],
  [
    'anything else may be tried again, its first line is told',
    new RangeError('out of memory\n    at /home/me/secret.js'),
    { message: 'RangeError: out of memory', retryable: true },
  ],
  ['also what is no error', 'oh', { message: 'oh', retryable: true }],
  ['a cancel is final', new Stopped('cancelled'), { message: expect.any(String), retryable: false }],
])('%s', (_name, error, failure) => expect(failureOf(error)).toEqual(failure));

test('a failure message has at most 500 characters', () => {
  expect(failureOf(new Error('x'.repeat(10_000))).message).toHaveLength(500);
});

const base = 'http://queue:3000';
const images = ['https://images.example.com'];

test.each([
  ['a path of the service', '/v1/files/a/b.png', [], `${base}/v1/files/a/b.png`, true],
  ['a URL of the service', `${base}/v1/files/a/b.png?x=1`, [], `${base}/v1/files/a/b.png?x=1`, true],
  [
    'a file of the service under its public address',
    'https://queue.example.com/v1/files/a/b.png',
    [],
    `${base}/v1/files/a/b.png`,
    true,
  ],
  ['its own input', '/v1/worker/runs/r1/input', [], `${base}/v1/worker/runs/r1/input`, true],
  [
    'a file of the service, where any origin is allowed',
    '/v1/files/a/b',
    ['*'],
    `${base}/v1/files/a/b`,
    true,
  ],
  ['another path of the service, without the key', '/v1/key', ['*'], `${base}/v1/key`, false],
  [
    'dots after a file, without the key',
    '/v1/files/a/%2e%2e%2fb',
    ['*'],
    `${base}/v1/files/a/%2e%2e%2fb`,
    false,
  ],
  ['an origin that is allowed', `${images[0]}/cat.png`, images, `${images[0]}/cat.png`, false],
  ['any, where any is', 'http://elsewhere/cat.png', ['*'], 'http://elsewhere/cat.png', false],
])('a worker may download %s', (_name, url, downloads, source, isOurs) => {
  const found = sourceOf(url, base, downloads);
  expect([found.url.href, found.isOurs]).toEqual([source, isOurs]);
});

const deep = 'https://example.com/queue';

test.each([
  ['/v1/files/a/b', `${deep}/v1/files/a/b`, true],
  [`${deep}/v1/files/a/b?x=1`, `${deep}/v1/files/a/b?x=1`, true],
  ['https://example.com/v1/worker/runs/r1/input', `${deep}/v1/worker/runs/r1/input`, true],
  ['http://queue:3000/v1/files/a/b', `${deep}/v1/files/a/b`, true],
  [`${deep}/v1/key`, `${deep}/v1/key`, false],
  ['https://example.com/other/v1/files/a/b', 'https://example.com/other/v1/files/a/b', false],
])(
  'with a path in the address of the service, %s is downloaded from %s (with the key: %p)',
  (url, source, isOurs) => {
    const found = sourceOf(url, deep, ['https://example.com']);
    expect([found.url.href, found.isOurs]).toEqual([source, isOurs]);
  },
);

test.each([
  '/v1/key',
  `${base}/v1/admin/keys`,
  '/v1/files',
  '/v1/files/../key',
  '/v1/files/%2e%2E/a/key',
  '/v1/files/..%2fkey',
  '/v1/files/a/..%5C..%5c..%5Ckey',
  '/v1/files/..\\key',
  'https://queue.example.com/v1/files/../key',
  'https://queue.example.com/v1/worker/%2e%2e/key',
  'http://169.254.169.254/latest/meta-data/',
  'http://127.0.0.1:3000/v1/key',
  'http://queue:3001/v1/key',
  'file:///etc/passwd',
  'data:text/plain,x',
  'https://images.example.com.evil.test/',
])('a worker may not download %s', (url) => {
  expect(() => sourceOf(url, base, images)).toThrow(/Nothing is downloaded from/);
});

test.each(['http://name:password@queue:3000/v1/files/a/b.png', 'https://secret@images.example.com/a.png'])(
  'a URL with a password is not downloaded, and no error contains it: %s',
  (url) => {
    expect(() => sourceOf(url, base, ['*'])).toThrow(
      /^Nothing is downloaded from a URL that holds a name or a password\.$/,
    );
  },
);

test.each([
  ['https://example.com/v1/storage/uploads/x?s=1', base, `${base}/v1/storage/uploads/x?s=1`],
  ['https://example.com/queue/v1/storage/uploads/x', base, `${base}/v1/storage/uploads/x`],
  ['https://example.com/v1/storage/uploads/x', deep, `${deep}/v1/storage/uploads/x`],
  [`${deep}/v1/storage/uploads/x?s=1`, deep, `${deep}/v1/storage/uploads/x?s=1`],
  ['https://bucket.example.com/v1/uploads/x?s=1', base, 'https://bucket.example.com/v1/uploads/x?s=1'],
])('a file for %s is sent by a worker of %s to %s', (url, own, target) => {
  expect(targetOf(url, own).href).toBe(target);
});

test('an invalid URL is not downloaded', () => {
  expect(() => sourceOf('http://secret:port/', base, ['*'])).toThrow(
    /^A URL that is to be downloaded is not valid\.$/,
  );
});

test('a file has the content type of its name', () => {
  expect(['a.png', 'b.JPG', 'c.tar.gz', 'd'].map(typeOf)).toEqual([
    'image/png',
    'image/jpeg',
    'application/octet-stream',
    'application/octet-stream',
  ]);
});
