import type { Files } from '../../src/files/files.js';
import { Config } from '../../src/config/config.js';
import { HttpRunner } from '../../src/runners/http-runner.js';
import { Tracing } from '../../src/tracing/tracing.js';
import { ModelServer, ndjson } from '../support/model-server.js';
import { failureOf, filesBy, noFiles, testRun, type TestRun, threads } from '../support/test-run.js';
import { until } from '../support/until.js';

const runner = new HttpRunner(new Config(), new Tracing(), noFiles, threads);
let server: ModelServer;

beforeEach(async () => (server = await new ModelServer().start()));

afterEach(() => server.stop());

function run(options: object, input = '{"prompt":"a cat"}'): TestRun {
  return testRun({ kind: 'http', url: server.url, headers: {}, ...options }, input);
}

function answer(status: number, body = '', type = 'application/json'): void {
  server.respond = ({ response }) => response.writeHead(status, { 'content-type': type }).end(body);
}

test.each([
  ['text', 'text/plain; charset=utf-8', 'H\u00e9 "you"\n', '"H\u00e9 \\"you\\"\\n"'],
  ['an empty text', 'text/plain', '', '""'],
  ['a text of subtitles', 'text/vtt; charset=utf-8', 'WEBVTT\n', '"WEBVTT\\n"'],
  ['subtitles of whisper.cpp', 'application/x-subrip', '1\n', '"1\\n"'],
])('%s is a JSON string', async (_, type, body, output) => {
  answer(200, body, type);
  expect(await runner.run(run({}))).toBe(output);
  expect(await runner.run(run({ response: { error: '$.error' } }))).toBe(output);
});

test('a transcription of whisper.cpp with the type text/html is a text, and a real HTML page is refused', async () => {
  const url = `${server.url}/v1/audio/transcriptions`;
  const transcription = run({ preset: 'openai', url });
  answer(200, ' [BLANK_AUDIO] Hi\n', 'text/html; charset=utf-8');
  expect(await runner.run(transcription)).toBe('" [BLANK_AUDIO] Hi\\n"');
  answer(200, '\n <html>Log in</html>', 'text/html');
  expect((await failureOf(runner, transcription)).message).toContain('got text/html');
});

test('numbers of a form stay as they were written', async () => {
  answer(200, '1');
  const input = '{"seed": 12345678901234567890, "list": [12345678901234567891, "a"], "deep": {"n": 1e400}}';
  await runner.run(run({ request: { multipart: { first: '$.seed', '*': '$' } } }, input));
  const { body } = server.calls.at(-1)!;
  for (const text of ['12345678901234567890', '12345678901234567891', '{"n": 1e400}'])
    expect(body).toContain(`\r\n\r\n${text}\r\n`);
});

test('an event stream without a mapping is refused, and the error names the setting', async () => {
  answer(200, 'data: 1\n\n', 'text/event-stream');
  expect((await failureOf(runner, run({}))).message).toBe(
    'The model\'s answer cannot be read: it is an event stream; set "preset" or "response" of the runner in models.yaml.',
  );
});

test.each([
  ['busy', { busy: [409] }, 409, 'free'],
  ['busy, also where another attempt would be made', { busy: [429] }, 429, 'free'],
  ['away at once', { away: [502] }, 502, 'free'],
  ['a redirect, and busy', { busy: [302] }, 302, 'free'],
  ['a redirect, and away', { away: [307] }, 307, 'free'],
  ['not named by the mapping', { busy: [409] }, 502, 'costly'],
  ['not named by the mapping, and a refusal', { away: [502] }, 409, undefined],
])(
  'the mapping decides about outage and retry for a status that is %s',
  async (_, options, status, outage) => {
    answer(status, '{"detail":"no"}');
    const { options: failed } = await failureOf(runner, run(options));
    expect([failed.outage, failed.retryable]).toEqual([outage, outage !== undefined]);
  },
);

test.each([10, 100_000])(
  'members that a mapping does not set are sent as they were written: %i characters',
  async (length) => {
    answer(200, '{}');
    const input = `{"seed":9223372036854775807,"temperature":1.0,"prompt":"${'a'.repeat(length)}"}`;
    await runner.run(run({ request: { set: { model: 'my/llama' } } }, input));
    expect(server.calls[0]!.body).toBe(`${input.slice(0, -1)},"model":"my/llama"}`);
  },
);

test('the second of a status that counts as away starts at the end of the input', async () => {
  async function* slowly(): AsyncGenerator<Buffer> {
    yield Buffer.from('half');
    // A whole second passes between the beginning of the input and its end.
    const beganAt = performance.now();
    await until(() => performance.now() - beganAt > 1_000);
    yield Buffer.from('half');
  }
  const file = { name: 'a.wav', contentType: 'audio/wav', size: 8, read: slowly };
  const files = { named: () => Promise.resolve({ file, read: slowly }) } as unknown as Files;
  const slow = new HttpRunner(new Config(), new Tracing(), files, threads);
  answer(502);
  const options = { away: [502], request: { multipart: { file: '$.prompt' } } };
  expect((await failureOf(slow, run(options))).options.outage).toBe('free');
});

test('an input file that cannot be read to its end does not count against the server', async () => {
  async function* half(): AsyncGenerator<Buffer> {
    yield Buffer.from('half');
    throw new Error('the store of files is away');
  }
  const file = { name: 'a.wav', contentType: 'audio/wav', size: 8 };
  for (const read of [half, () => Promise.reject(new Error('the store of files is away'))]) {
    const files = { named: () => Promise.resolve({ file, read }) } as unknown as Files;
    const broken = new HttpRunner(new Config(), new Tracing(), files, threads);
    const { message, options } = await failureOf(
      broken,
      run({ request: { multipart: { file: '$.prompt' } } }),
    );
    expect([message, options]).toEqual([
      'A file of the input cannot be read now.',
      { code: 'model_error', retryable: true, cause: expect.any(Error) },
    ]);
  }
});

test.each([
  [
    'ends a line',
    'audio/wav\r\ncontent-disposition: form-data; name="model"\r\n',
    'application/octet-stream',
  ],
  ['is none', 'é', 'application/octet-stream'],
  ['is one', 'audio/wav', 'audio/wav'],
])(
  'a data URL whose media type %s adds no other headers to its part of the form',
  async (_, type, expected) => {
    answer(200, '1');
    const request = { multipart: { model: 'whisper-1', file: '$.file' } };
    await runner.run(run({ request }, JSON.stringify({ file: `data:${type};base64,aGk=` })));
    const { bytes, headers } = server.calls[0]!;
    const form = await new Response(new Uint8Array(bytes), {
      headers: { 'content-type': headers['content-type']! },
    }).formData();
    const file = form.get('file') as File;
    expect([form.getAll('model'), file.type, await file.text()]).toEqual([['whisper-1'], expected, 'hi']);
  },
);

test('NDJSON lines are read as usual when the mapping does not describe the answer', async () => {
  const lines = ndjson([
    { type: 'delta', delta: 'a' },
    { type: 'output', output: { text: 'a' } },
  ]);
  for (const options of [{ busy: [409] }, { away: [502] }, { health: { url: '/health' } }]) {
    answer(200, lines, 'application/x-ndjson');
    expect(await runner.run(run(options))).toBe('{"text":"a"}');
  }
});

describe('NDJSON lines', () => {
  const lines = (value: object): string =>
    ndjson([
      { type: 'log', message: 'half' },
      { type: 'progress', value: 0.5 },
      { type: 'output', output: value },
    ]);

  test.each([
    ['files', { response: { files: '$.image' } }],
    ['usage', { response: { usage: '$.used' } }],
    ['error', { response: { error: '$.error', retryable: '$.again' } }],
    ['log and progress', { response: { log: '$.log', progress: '$.progress' } }],
    ['end', { response: { end: '[DONE]' } }],
    ['chunks', { response: { chunks: true } }],
    ['the idle timeout', { idle_timeout: '10s' }],
  ])('are read as usual when the mapping sets only %s', async (_, options) => {
    answer(200, lines({ text: 'a' }), 'application/x-ndjson');
    const one = run(options);
    expect(await runner.run(one)).toBe('{"text":"a"}');
    expect([one.lines, one.steps]).toEqual([[{ level: 'INFO', message: 'half' }], [[0.5, undefined]]]);
    expect(server.calls[0]!.headers.accept).not.toContain('text/event-stream');
  });

  test('have files, usage and errors read from their output, like a JSON answer', async () => {
    const stored: string[] = [];
    const files = filesBy((bytes, contentType) => {
      stored.push(`${contentType} ${bytes.toString()}`);
      return 'http://files/1';
    });
    const keeping = new HttpRunner(new Config(), new Tracing(), files, threads);
    const response = { files: '$.image', usage: '$.used', error: '$.error' };
    answer(
      200,
      lines({ image: 'data:image/png;base64,cGl4ZWxz', used: { steps: 3 } }),
      'application/x-ndjson',
    );
    const one = run({ response });
    expect(JSON.parse(String(await keeping.run(one)))).toEqual({
      image: 'http://files/1',
      used: { steps: 3 },
    });
    expect([stored, one.usages]).toEqual([['image/png pixels'], [{ steps: 3 }]]);
    answer(200, lines({ error: 'no memory' }), 'application/x-ndjson');
    expect((await failureOf(keeping, run({ response }))).message).toBe('no memory');
    answer(200, 'pixels', 'image/png');
    expect(JSON.parse(String(await keeping.run(run({ response }))))).toEqual({
      file: { url: 'http://files/1' },
    });
  });

  test('are broken where they are silent for longer than the idle timeout', async () => {
    server.respond = ({ response }) => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson' });
      response.write('{"type":"log","message":"half"}\n');
    };
    const { message, options } = await failureOf(runner, run({ idle_timeout: '50ms' }));
    expect([message, options.outage]).toEqual(["The model's stream was silent for 0.05 s.", 'costly']);
  });
});

test('an event stream that the mapping does not read is refused, and the error names the settings', async () => {
  answer(200, 'data: 1\n\n', 'text/event-stream');
  const { message, options } = await failureOf(runner, run({ response: { files: '$.image' } }));
  expect(message).toBe(
    'The model\'s answer cannot be read: it is an event stream; set "delta", "output" or "assemble" of "response" in models.yaml.',
  );
  expect(options.retryable).toBe(false);
});

test.each([
  ['200', 200, '', {}, undefined],
  ['another 2xx', 204, '', {}, 'The health check of the server was answered with 204.'],
  ['503', 503, '{"error":"loading"}', {}, 'The health check of the server was answered with 503.'],
  ['200 and a body that says it is ready', 200, '{"status":"READY"}', ready(), undefined],
  ['200 and another body', 200, '{"status":"STARTING"}', ready(), notReady()],
  ['200 and a body that is not JSON', 200, 'ok', ready(), notReady()],
])('a health check judges an answer with %s', async (_, status, body, options, message) => {
  answer(status, body);
  const { model } = run({ health: { url: '/health?deep=1', ...options } });
  const checked = runner.checkHealth(model, server.url, new AbortController().signal);
  expect(await checked.catch((error: Error) => error.message)).toBe(message);
  expect(server.calls).toEqual([expect.objectContaining({ method: 'GET', url: '/health?deep=1' })]);
});

function ready(): object {
  return { ready: { path: '$.status', in: ['READY', 'BUSY'] } };
}

function notReady(): string {
  return 'The health check of the server says that it is not ready.';
}

test('an away status that arrives late counts as an attempt', async () => {
  let respond: () => void = () => undefined;
  server.respond = ({ response }) => {
    respond = () => response.writeHead(504).end();
    setTimeout(respond, 1_050);
  };
  const { options } = await failureOf(runner, run({ away: [504] }));
  expect(options.outage).toBe('costly');
});

test.each([
  [
    'set',
    { set: { a: 1, prompt: null, list: ['{request_id}', 2] } },
    (id: string) => ({ a: 1, list: [id, 2] }),
  ],
  ['set and wrapped', { set: { n: 2 }, wrap: 'input' }, () => ({ input: { prompt: 'a cat', n: 2 } })],
  ['with braces of its own', { set: { json: '{{"a":1}}' } }, () => ({ prompt: 'a cat', json: '{"a":1}' })],
])('an input is %s', async (_, request, expected) => {
  answer(200, '1');
  const one = run({ request });
  await runner.run(one);
  expect(JSON.parse(server.calls[0]!.body)).toEqual(expected(one.requestId));
});

test('an input that is only wrapped keeps each byte', async () => {
  answer(200, '1');
  await runner.run(run({ request: { wrap: 'input' } }, '{"n": 12345678901234567890, "a":1e400}'));
  expect(server.calls[0]!.body).toBe('{"input":{"n": 12345678901234567890, "a":1e400}}');
});

test('an input keeps the numbers that the mapping does not set', async () => {
  answer(200, '1');
  const request = { set: { a: { b: 2, c: null }, seed: 7, id: null } };
  const input =
    '{"id": 1, "n": 12345678901234567890, "\\u0061": {"c": 3, "d": 1e400}, "x": {"a": [1.0, "}"]}, "seed": "{"}';
  await runner.run(run({ request }, input));
  expect(server.calls[0]!.body).toBe(
    '{"n":12345678901234567890,"a":{"d":1e400,"b":2},"x":{"a": [1.0, "}"]},"seed":7}',
  );
  await runner.run(run({ request: { set: { a: { b: { c: null } } } } }, '[{"a": 1}]'));
  expect(server.calls[1]!.body).toBe('{"a":{"b":{}}}');
});

test.each([
  [{ output: '$.output' }, '{"n": 12345678901234567890, "a": 1.0}'],
  [{ output: '$.output.n' }, '12345678901234567890'],
  [{ output: '$.output', files: { path: '$..*', data_urls: true } }, '{"n": 12345678901234567890, "a": 1.0}'],
  [{ files: '$.data[*].b64_json' }, '{"output": {"n": 12345678901234567890, "a": 1.0}}'],
])('an output at %j keeps its numbers', async (response, output) => {
  answer(200, '{"output": {"n": 12345678901234567890, "a": 1.0}}');
  expect(await runner.run(run({ response }))).toBe(output);
});

test.each([10, 100_000])(
  'a form has the numbers of an input as they were written: %i characters',
  async (length) => {
    answer(200, '1');
    const request = { multipart: { seed: '$.seed', more: '$.more', '*': '$' } };
    const numbers = '"seed":12345678901234567890,"more":{"n": 1e400},"other":9007199254740993,"list":[1.0]';
    const input = `{${numbers},"text":"${'x'.repeat(length)}"}`;
    await runner.run(run({ request }, input));
    const { bytes, headers } = server.calls[0]!;
    const form = await new Response(new Uint8Array(bytes), {
      headers: { 'content-type': headers['content-type']! },
    }).formData();
    expect(['seed', 'more', 'other', 'list[]'].map((name) => form.get(name))).toEqual([
      '12345678901234567890',
      '{"n": 1e400}',
      '9007199254740993',
      '1.0',
    ]);
  },
);

test.each([40, 60, 990])(
  'an output of %i levels that may contain files at each level is read',
  async (levels) => {
    const output = `${'['.repeat(levels)}1${']'.repeat(levels)}`;
    const json = `{"status":"succeeded","output":${output}}`;
    for (const [body, type] of [[json], [`data: ${json}\n\n`, 'text/event-stream']] as const) {
      answer(200, body, type);
      expect(String(await runner.run(run({ preset: 'cog' })))).toBe(output);
    }
  },
);

test('a header that is not printable ASCII fails the request and is not sent', async () => {
  const { message } = await failureOf(runner, run({ request: { headers: { 'x-user': '{tag.user}' } } }));
  expect(message).toBe('The header x-user would hold characters that are not printable ASCII.');
  expect(server.calls).toEqual([]);
});

test('a run id is the same for one start of a request, and another for the next', async () => {
  answer(200, '1');
  const request = { set: { id: '{run_id}' } };
  const [first, again, next] = [run({ request }), run({ request }), { ...run({ request }), start: 2 }];
  for (const one of [first, again, next]) await runner.run(one);
  const [a, b, c] = server.calls.map(({ body }) => (JSON.parse(body) as { id: string }).id);
  expect([a === b, a === c]).toEqual([true, false]);
});

test.each([
  ['the first that is not empty', '{"result": null, "text": "x"}', '"x"'],
  ['also behind false', '{"result": false, "text": "x"}', '"x"'],
  ['the first if all are empty', '{"result": "", "text": null}', '""'],
])('the output at one of several paths is %s', async (_, body, output) => {
  answer(200, body);
  expect(await runner.run(run({ response: { output: ['$.result', '$.text'] } }))).toBe(output);
});

test.each([10, 100_000])(
  'a chunk with null in place of the output has none: %i characters',
  async (length) => {
    const more = 'x'.repeat(length);
    const events = [{ output: 'a' }, { output: null, more }].map((one) => `data: ${JSON.stringify(one)}\n\n`);
    answer(200, events.join(''), 'text/event-stream');
    expect(await runner.run(run({ response: { output: '$.output' } }))).toBe('"a"');
  },
);

test('a form has no part for a member that is null', async () => {
  answer(200, '{}');
  const one = run(
    { preset: 'openai', url: `${server.url}/v1/images/edits` },
    '{"image":"a","mask":null,"n":1}',
  );
  await new HttpRunner(new Config(), new Tracing(), filesBy(String), threads).run(one);
  const { bytes, headers } = server.calls[0]!;
  const form = await new Response(new Uint8Array(bytes), {
    headers: { 'content-type': headers['content-type']! },
  }).formData();
  expect([...form.keys()]).toEqual(['image', 'n']);
});
