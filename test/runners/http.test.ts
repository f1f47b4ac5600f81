import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { Config } from '../../src/config/config.js';
import type { RunFailure } from '../../src/queue/runs/runner.js';
import { HttpRunner } from '../../src/runners/http-runner.js';
import { Tracing } from '../../src/tracing/tracing.js';
import { type Call, ModelServer } from '../support/model-server.js';
import { failureOf, noFiles, testRun, type TestRun, trickle, threads } from '../support/test-run.js';
import { until } from '../support/until.js';

const maxOutputBytes = 100_000;
const config = Object.assign(new Config(), { maxOutputBytes });
const runner = new HttpRunner(config, new Tracing(), noFiles, threads);
let server: ModelServer;

beforeEach(async () => (server = await new ModelServer().start()));

afterEach(async () => {
  await until(async () => (await server.connections()) === 0, {
    message: 'the runner leaves no connection behind',
  });
  await server.stop();
});

function httpRun(input?: string, headers: Record<string, string> = {}, attempt?: number): TestRun {
  return testRun({ kind: 'http', url: server.url, headers }, input, attempt);
}

/** Returns the failure of a run whose call is answered this way. */
function failureAfter(respond: ModelServer['respond']): Promise<RunFailure> {
  server.respond = respond;
  return failureOf(runner, httpRun());
}

function json(body: string | Buffer, status = 200, headers: Record<string, string> = {}) {
  return ({ response }: Call) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
  };
}

describe('the call to a model', () => {
  it('is one POST of the unchanged input, with the headers of the file, the request and the attempt', async () => {
    server.respond = json('{}');
    const input = '{ "big": 12345678901234567890, "text": "héé" }';
    await runner.run(httpRun(input, { authorization: 'Bearer secret' }, 3));
    expect(server.calls).toHaveLength(1);
    expect(server.calls[0]).toMatchObject({ method: 'POST', url: '/predict', body: input });
    expect(server.calls[0]!.headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(input)),
      'x-request-id': '01890000-0000-7000-8000-000000000001',
      'x-attempt': '3',
      authorization: 'Bearer secret',
    });
  });

  it('sets no time limit on the headers or the body of an answer', async () => {
    const requests: ClientRequest[] = [];
    const watch = (message: unknown): unknown =>
      requests.push((message as { request: ClientRequest }).request);
    const limits: (number | undefined)[] = [];
    server.respond = (call) => {
      limits.push(requests[0]!.socket!.timeout);
      begin(call, '{', () => {
        limits.push(requests[0]!.socket!.timeout);
        call.response.end('}');
      });
    };
    subscribe('http.client.request.start', watch);
    try {
      expect(await runner.run(httpRun())).toBe('{}');
    } finally {
      unsubscribe('http.client.request.start', watch);
    }
    expect(limits.map((limit) => limit ?? 0)).toEqual([0, 0]);
  });
});

describe('a JSON answer', () => {
  it('is the output, exactly as it was sent', async () => {
    const output = ' {"seed": 12345678901234567890, "a":1.0,\n "a":2, "text":"\\u0000 é"} ';
    server.respond = json(output, 200, { 'content-type': 'Application/JSON; charset=utf-8' });
    expect(await runner.run(httpRun())).toBe(output);
  });

  it('may begin with a byte order mark and have the content encoding identity', async () => {
    const bytes = Buffer.from('\ufeff {"a":1.0}');
    server.respond = json(bytes, 200, { 'content-encoding': 'Identity' });
    expect(await runner.run(httpRun())).toBe(' {"a":1.0}');
  });

  it('may come in pieces that cut its characters', async () => {
    const output = JSON.stringify({ text: 'žluťoučký 🐈' });
    server.respond = trickle(output, 1);
    expect(await runner.run(httpRun())).toBe(output);
  });

  it.each([
    ['is cut short', '{"a":', {}, 'has the type application/json, but cannot be read as JSON'],
    ['is HTML', '<html>', {}, 'has the type application/json, but cannot be read as JSON'],
    ['is nested too deeply', '['.repeat(5_000) + ']'.repeat(5_000), {}, 'cannot be read as JSON'],
    ['is empty', '', {}, 'is empty'],
    ['is called something else', '{}', { 'content-type': 'text/html' }, 'got text/html'],
    ['is compressed', '{}', { 'content-encoding': 'gzip' }, 'is compressed'],
    ['is too large', `"${'x'.repeat(maxOutputBytes)}"`, {}, `is larger than ${maxOutputBytes} bytes`],
  ])('that %s is final', async (_, body, headers, message) => {
    const failure = await failureAfter(json(body, 200, headers));
    expect(failure.options).toEqual({ code: 'model_error', retryable: false });
    expect(failure.message).toContain(message);
  });

  it('without a content type, or not in UTF-8, is final', async () => {
    const untyped = await failureAfter(({ response }) => response.end('{}'));
    expect(untyped.message).toContain('got no content type');
    const latin1 = await failureAfter(json(Buffer.from('"\xe9"', 'latin1')));
    expect(latin1.message).toContain('not UTF-8');
  });

  it('that never ends is dropped at the limit', async () => {
    expect((await failureAfter(talkForEver(200))).message).toContain('larger than');
    await until(() => server.calls[0]!.closed, { message: 'the connection is closed' });
  });
});

describe('an answer without success', () => {
  it.each([
    [408, 'model_error', undefined],
    [425, 'model_error', undefined],
    [429, 'model_error', undefined],
    [500, 'model_error', undefined],
    [502, 'model_unavailable', 'costly'],
    [503, 'model_unavailable', 'free'],
    [504, 'model_unavailable', 'costly'],
  ])('%i may be tried again', async (status, code, outage) => {
    const { message, options } = await failureAfter(json('{"why":"busy"}', status));
    expect(message).toBe(`The model answered ${status}.`);
    const details = status < 500 && { details: { why: 'busy' } };
    const isPrompt = outage === 'costly' && { isPrompt: true };
    expect(options).toEqual({ code, retryable: true, ...details, ...(outage && { outage }), ...isPrompt });
  });

  const finalStatuses = [400, 401, 403, 404, 405, 409, 410, 413, 415, 418, 422, 451];
  it.each(finalStatuses)('%i is final, with the body of the model', async (status) => {
    const details = { detail: [{ loc: ['prompt'], n: 1 }] };
    const { options } = await failureAfter(json(JSON.stringify(details), status, { 'retry-after': '5' }));
    expect(options).toEqual({ code: 'model_error', retryable: false, status, details });
  });

  it.each([501, 505, 507, 599])('%i is final, without details for the caller', async (status) => {
    expect((await failureAfter(json('{"trace":"secret"}', status))).options).toEqual({
      code: 'model_error',
      retryable: false,
    });
  });

  it('of a broken model has its message for operators and no details for the caller', async () => {
    const failure = await failureAfter(json('{"error":{"message":"CUDA out of memory"}}', 500));
    expect(failure.message).toBe('The model answered 500.');
    expect(failure.options).not.toHaveProperty('details');
    expect(failure.fullMessage).toBe('The model answered 500: CUDA out of memory');
  });

  it.each([
    [503, {}],
    [429, {}],
    [408, { 'content-length': '100' }],
    [422, {}],
    [422, { 'content-length': '100' }],
  ])('%i with a body that does not end (headers %j) fails with its status', async (status, headers) => {
    const failure = await failureAfter(({ response }) => {
      response.writeHead(status, { 'content-type': 'text/plain', ...headers }).write('the queue is full\n');
    });
    expect(failure.fullMessage).toBe(`The model answered ${status}: the queue is full`);
    await until(() => server.calls[0]!.closed, { message: 'the connection is closed' });
  });

  it.each([301, 302, 304, 307, 308])('%i is not followed', async (status) => {
    const failure = await failureAfter(json('', status, { location: `${server.url}/elsewhere` }));
    expect(failure.options).toEqual({ code: 'model_error', retryable: false });
    expect(failure.message).toContain('redirects are not followed');
    expect(server.calls).toHaveLength(1);
  });

  it('has details of at most 8 KiB of text that can be stored', async () => {
    const plain = json(`bad\0 ${'x'.repeat(20_000)}`, 400, { 'content-type': 'text/plain' });
    const details = (await failureAfter(plain)).options.details as string;
    expect(details.slice(0, 6)).toBe('bad\ufffd x');
    expect(details).toHaveLength(8 * 1024 + 1);
  });

  it('has no details when it is empty, and closes its connection when it is endless', async () => {
    expect((await failureAfter(json('', 404))).options).not.toHaveProperty('details');
    expect((await failureAfter(talkForEver(400))).options).toMatchObject({ status: 400 });
    await until(() => server.calls[1]!.closed, { message: 'the connection is closed' });
  });

  it.each(['application/ndjson', 'application/jsonl; charset=utf-8', 'Application/JsonLines'])(
    'of lines with the type %s is that of NDJSON',
    async (type) => {
      const lines = '{"type":"error","message":"out of memory"}\n';
      expect((await failureAfter(json(lines, 200, { 'content-type': type }))).message).toBe('out of memory');
    },
  );

  it.each([
    ['7', 7_000],
    ['0', 0],
    ['86400', 3_600_000],
    ['Wed, 21 Oct 2015 07:28:00 GMT', 0],
    ['Fri, 01 Jan 2199 00:00:00 GMT', 3_600_000],
    ['-1', undefined],
    ['soon', undefined],
  ])('with Retry-After: %s asks to wait %s ms', async (value, retryAfterMs) => {
    const { options } = await failureAfter(json('', 503, { 'retry-after': value }));
    expect(options.retryAfterMs).toBe(retryAfterMs);
  });

  it('has its dates without a zone read as GMT, in each time zone of the node', async () => {
    const zone = process.env.TZ;
    const dates = [
      { 'retry-after': 'Sat Nov 21 12:00:30 2026', date: 'Sat, 21 Nov 2026 12:00:00 GMT' },
      { 'retry-after': 'Sat, 21 Nov 2026 12:00:30 GMT', date: 'Sat Nov 21 12:00:00 2026' },
    ];
    process.env.TZ = 'America/New_York';
    try {
      for (const headers of dates)
        expect((await failureAfter(json('', 503, headers))).options.retryAfterMs).toBe(30_000);
    } finally {
      if (zone === undefined) delete process.env.TZ;
      else process.env.TZ = zone;
    }
  });
});

describe('a broken connection', () => {
  const gone = { code: 'model_unavailable', retryable: true, outage: 'costly' };
  const unreached = { ...gone, outage: 'free' };

  it('that is refused may be tried again', async () => {
    const free = await new ModelServer().start();
    const url = free.url.replace('http://', 'http://user:secret@');
    await free.stop();
    const failure = await failureOf(runner, testRun({ kind: 'http', url, headers: {} }));
    expect(failure.options).toEqual(unreached);
    expect(failure.message).toBe('The connection to the model could not be made (ECONNREFUSED).');
  });

  it('to a name that does not resolve counts as not reached', async () => {
    const runner = new HttpRunner(config, new Tracing(), noFiles, threads);
    const failure = await failureOf(
      runner,
      testRun({ kind: 'http', url: 'http://model.invalid/', headers: {} }),
    );
    expect(failure.options).toEqual(unreached);
  });

  it.each([
    ['before the answer', ({ socket }: Call) => socket.destroy()],
    ['by a reset', ({ socket }: Call) => socket.resetAndDestroy()],
    ['after the headers', (call: Call) => begin(call, '', () => call.socket.destroy())],
    ['in the middle of the body', (call: Call) => begin(call, '{"a":', () => call.socket.resetAndDestroy())],
    [
      'short of its length',
      (call: Call) => begin(call, '{}', () => call.socket.end(), { 'content-length': '50' }),
    ],
    ['by an answer that is not HTTP', ({ socket }: Call) => socket.end('SSH-2.0-OpenSSH\r\n')],
  ])('%s may be tried again', async (_, answer) => {
    expect((await failureAfter(answer)).options).toEqual(gone);
  });

  it('in the middle of NDJSON may be tried again', async () => {
    server.respond = (call) =>
      begin(call, '{"type":"log","message":"a"}\n{"type":"out', () => call.socket.destroy(), {
        'content-type': 'application/x-ndjson',
      });
    const run = httpRun();
    expect((await failureOf(runner, run)).options).toEqual(gone);
    expect(run.lines).toEqual([{ level: 'INFO', message: 'a' }]);
  });

  it('that is never established ends after the connect timeout', async () => {
    const silent: Server = createServer((socket) => socket.on('error', () => undefined).resume());
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const impatient = Object.assign(new HttpRunner(config, new Tracing(), noFiles, threads), {
      connectTimeoutMs: 50,
    });
    // The server accepts the connection, and never begins with TLS.
    const url = `https://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
    const failure = await failureOf(impatient, testRun({ kind: 'http', url, headers: {} }));
    expect(failure.options).toEqual(unreached);
    await new Promise((resolve) => silent.close(resolve));
  });
});

describe('a run that is stopped', () => {
  it.each([
    [undefined, 'the run was stopped: cancelled'],
    ['application/json', undefined],
    ['application/x-ndjson', undefined],
    ['text/plain', undefined],
  ])('has its connection closed, within a body of %s', async (contentType, message) => {
    const status = contentType === 'text/plain' ? 400 : 200;
    server.respond = ({ response }) => {
      if (contentType !== undefined) response.writeHead(status, { 'content-type': contentType }).write('{');
    };
    const run = httpRun();
    const result = expect(runner.run(run)).rejects.toThrow(message);
    await until(() => server.calls.length === 1);
    run.abort('cancelled');
    await result;
    await until(() => server.calls[0]!.closed, { message: 'the model sees the connection closed' });
  });

  it('before its start makes no call', async () => {
    const run = httpRun();
    run.abort('shutdown');
    await expect(runner.run(run)).rejects.toBe('shutdown');
    expect(server.calls).toEqual([]);
  });
});

/** Sends the head and the beginning of a body, then calls `then`. */
function begin(
  { response }: Call,
  body: string,
  then: () => void,
  headers: Record<string, string> = {},
): void {
  response.writeHead(200, { 'content-type': 'application/json', ...headers });
  response.flushHeaders();
  if (body === '') setImmediate(then);
  else response.write(body, () => setImmediate(then));
}

function talkForEver(status: number) {
  return ({ response }: Call): void => {
    response.writeHead(status, { 'content-type': 'application/json' });
    const more = (): void => {
      while (!response.destroyed && response.write('x'.repeat(10_000)));
    };
    response.on('drain', more);
    more();
  };
}
