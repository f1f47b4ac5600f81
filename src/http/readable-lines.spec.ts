import { stripVTControlCharacters } from 'node:util';
import { readableLines } from './readable-lines.js';

const time = '2026-11-23T20:15:30.123Z';
const line = (fields: object): string => `${JSON.stringify({ level: 'info', time, node: 'n', ...fields })}\n`;
const written = async (...fields: object[]): Promise<string> =>
  (await readableLines(false))(fields.map(line).join(''));

test('a line has its time, its level and its text', async () => {
  const fields = { level: 'warn', context: 'CompletionLog', msg: 'it failed', model: 'acme/up', count: 3 };
  expect(await written(fields)).toMatch(
    /^\[\d\d:\d\d:30\.123\] WARN: it failed \{"model":"acme\/up","count":3\}\n$/,
  );
});

test('the line of a call shows its route, its status and its duration', async () => {
  const call = { callId: 'r', method: 'POST', path: '/v1/queue/a/b', durationMs: 1.5 };
  const text = await written(
    { ...call, status: 202, msg: 'answered' },
    { ...call, status: 403, code: 'rate_limited', msg: 'connection lost before the answer ended' },
  );
  expect(text.split('\n').map((one) => one.slice('[20:15:30.123] '.length))).toEqual([
    'INFO: POST /v1/queue/a/b 202 in 1.5 ms',
    'INFO: POST /v1/queue/a/b 403 rate_limited in 1.5 ms (connection lost before the answer ended)',
    '',
  ]);
});

test('control characters are escaped, and no text can forge another line', async () => {
  const text = await written({
    msg: 'said \u001b]0;x\u0007\u009b2J\r\n[20:15:30.123] ERROR: forged',
    model: '\u001b[2J',
  });
  expect(text).toContain('said \\x1b]0;x\\x07\\x9b2J\\x0d\n    [20:15:30.123] ERROR: forged');
  expect(text).not.toMatch(/[^\P{Cc}\n]/u);
});

test('an error is shown with its stack', async () => {
  const err = { type: 'TypeError', message: 'oops', stack: 'TypeError: oops\n    at a.js:1:2' };
  expect(await written({ level: 'error', msg: 'it broke', err })).toMatch(/ERROR: it broke[^]*at a\.js:1:2/);
});

test('colour changes nothing but colour', async () => {
  const one = line({ msg: 'answered', method: 'GET', path: '/', status: 200, durationMs: 1 });
  const [coloured, plain] = [(await readableLines(true))(one), (await readableLines(false))(one)];
  expect(coloured).not.toBe(plain);
  expect(stripVTControlCharacters(coloured)).toBe(plain);
});
