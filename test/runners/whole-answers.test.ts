import { Config } from '../../src/config/config.js';
import { HttpRunner } from '../../src/runners/http-runner.js';
import { Tracing } from '../../src/tracing/tracing.js';
import { ModelServer } from '../support/model-server.js';
import { failureOf, filesBy, testRun, threads, type TestRun } from '../support/test-run.js';

const files = filesBy(String);
const runner = new HttpRunner(new Config(), new Tracing(), files, threads);
const server = new ModelServer();
beforeAll(() => server.start());
afterAll(() => server.stop());

/** Returns a run whose call is answered with exactly these bytes; then the connection ends. */
function answered(bytes: string): TestRun {
  server.respond = ({ socket }) => void socket.end(bytes);
  return testRun({ kind: 'http', url: server.url, headers: {} });
}

const json = 'content-type: application/json\r\n';
const ndjson = 'content-type: application/x-ndjson\r\n';
const png = 'content-type: image/png\r\n';
const ended = 'HTTP/1.1 200 OK\r\nconnection: close\r\n';
const old = 'HTTP/1.0 200 OK\r\n';
const delta = '{"type":"delta","delta":"a"}\n';
const output = '{"type":"output","output":[1]}';

describe('an answer is complete if it', () => {
  test.each([
    ['has its length', `${ended}${json}content-length: 3\r\n\r\n123`, '123'],
    ['has its last chunk', `${ended}${json}transfer-encoding: chunked\r\n\r\n3\r\n123\r\n0\r\n\r\n`, '123'],
    ['is an object and ends with its connection', `${ended}${json}\r\n {"a":1}\n`, ' {"a":1}\n'],
    ['is an array and ends with its connection', `${old}${json}\r\n[1]`, '[1]'],
    ['has an output line and ends with its connection', `${old}${ndjson}\r\n${delta}${output}`, '[1]'],
    ['is of deltas, with its last chunk', chunked(ndjson, delta), undefined],
    [
      'is a picture with its length',
      `${ended}${png}content-length: 4\r\n\r\nwhole`.slice(0, -1),
      '{"file":{"url":"whol"}}',
    ],
  ])('%s', async (_, bytes, expected) => {
    expect(await runner.run(answered(bytes))).toBe(expected);
  });
});

describe('an answer is a broken connection if it', () => {
  test.each([
    ['ends before its length', `${ended}${json}content-length: 6\r\n\r\n123`],
    ['ends without its last chunk', `${ended}${json}transfer-encoding: chunked\r\n\r\n3\r\n123\r\n`],
    ['ends within a chunk', `${ended}${json}transfer-encoding: chunked\r\n\r\n6\r\n123`],
    ['has a chunk that is none', `${ended}${json}transfer-encoding: chunked\r\n\r\n3\r\n123\r\nx\r\n`],
    ['goes on beyond its length', `HTTP/1.1 200 OK\r\n${json}content-length: 3\r\n\r\n123456`],
    ['is a picture, cut before its length', `${ended}${png}content-length: 9\r\n\r\nhalf`],
    ['is of deltas, cut before its length', `${ended}${ndjson}content-length: 999\r\n\r\n${delta}`],
  ])('%s', async (_, bytes) => {
    const { message, options } = await failureOf(runner, answered(bytes));
    expect(message).toMatch(/^The connection to the model broke/);
    expect(options).toMatchObject({ code: 'model_unavailable', retryable: true, outage: 'costly' });
  });
});

describe('an answer may be incomplete if it ends with its connection and', () => {
  test.each([
    ['is a number', `${ended}${json}\r\n123`],
    ['is a number, by HTTP/1.0', `${old}${json}\r\n123`],
    ['is a text', `${old}${json}\r\n"abc"`],
    ['is a word', `${old}${json}\r\ntrue`],
    ['is half of an object', `${old}${json}\r\n{"a":1`],
    ['is empty', `${old}${json}\r\n`],
    ['is of deltas alone', `${old}${ndjson}\r\n${delta}`],
    ['ends within a line', `${old}${ndjson}\r\n${delta}{"type":"outp`],
    ['is a picture', `${ended}${png}\r\nhalf`],
    ['is a picture, by HTTP/1.0', `${old}${png}\r\nhalf`],
    ['is called gzip and not chunked', `${ended}${json}transfer-encoding: gzip\r\n\r\n123`],
  ])('%s', async (_, bytes) => {
    const { message, options } = await failureOf(runner, answered(bytes));
    expect(message).toMatch('send Content-Length or chunks');
    expect(options).toEqual({ code: 'model_error', retryable: true });
  });
});

test('an unreadable line is an error of the model if another line follows', async () => {
  const run = answered(`${old}${ndjson}\r\nnonsense\n${output}\n`);
  expect((await failureOf(runner, run)).options).toEqual({ code: 'model_error', retryable: false });
});

test.each([201, 202, 203, 204, 205, 206, 226])(
  'an answer of %d is no success, and not tried again',
  async (status) => {
    const body = status === 204 || status === 205 ? '' : '{"id":1}';
    const run = answered(`HTTP/1.1 ${status} X\r\n${json}content-length: ${body.length}\r\n\r\n${body}`);
    const { message, options } = await failureOf(runner, run);
    expect(message).toBe(
      `The model answered ${status}: only 200 with the whole output is a success. ` +
        'If the answer promises an output, set "follow" of the runner in models.yaml.',
    );
    expect(options).toMatchObject({ code: 'model_error', retryable: false });
  },
);

test('an answer that switches protocols is not a success', async () => {
  const run = answered('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n');
  expect((await failureOf(runner, run)).message).toMatch(/^The model answered 101: only 200/);
});

function chunked(fields: string, text: string): string {
  return `${ended}${fields}transfer-encoding: chunked\r\n\r\n${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;
}
