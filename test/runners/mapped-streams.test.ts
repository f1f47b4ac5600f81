import { RunFailure } from '../../src/queue/runs/runner.js';
import type { HttpAnswer } from '../../src/runners/http-failure.js';
import { AnswerReader } from '../../src/runners/mapping/answer-reader.js';
import { MappedAnswer } from '../../src/runners/mapping/mapped-answer.js';
import { type Mapping, mappingOf, type PlainMapping, presetFor } from '../../src/runners/mapping/mapping.js';
import { chunk, done, event, recorded } from '../support/recorded-streams.js';
import { noFiles, type TestRun, testRun, threads } from '../support/test-run.js';
import { until } from '../support/until.js';

const chatUrl = 'http://gpu:8000/v1/chat/completions';

/** A part of an answer; an error stands for a connection that breaks. */
type Piece = string | Buffer | Error | Promise<never>;

async function* inPieces(pieces: readonly Piece[]): AsyncGenerator<Buffer> {
  for (const piece of pieces) {
    if (piece instanceof Error) throw piece;
    if (piece instanceof Promise) await piece;
    else yield Buffer.from(piece as string);
  }
}

const broke = (): RunFailure =>
  new RunFailure('The connection to the model broke.', {
    code: 'model_unavailable',
    retryable: true,
    outage: 'costly',
  });

const mappings = new Map<string, Mapping>();

/** A mapping is compiled once for the thousands of streams here, as the runner does it. */
function mappingFor(preset: string | undefined, url: string, options: PlainMapping): Mapping {
  const name = JSON.stringify([preset, url, options]);
  const known =
    mappings.get(name) ?? mappingOf(options, preset === undefined ? {} : presetFor(preset, [url]));
  mappings.set(name, known);
  return known;
}

interface Read {
  run: TestRun;
  output: string | undefined;
  failure: RunFailure | undefined;
}

async function read(
  pieces: readonly Piece[] | AsyncIterable<Buffer>,
  {
    preset,
    url = chatUrl,
    hasOwnEnd = true,
    options = {},
    kind = 'stream',
  }: {
    preset?: string;
    url?: string;
    hasOwnEnd?: boolean;
    options?: PlainMapping;
    kind?: 'stream' | 'lines' | 'json';
  },
): Promise<Read> {
  const run = testRun({});
  const mapping = mappingFor(preset, url, options);
  const answer: HttpAnswer = {
    status: 200,
    headers: {},
    hasOwnEnd,
    chunks: Symbol.asyncIterator in pieces ? pieces : inPieces(pieces),
    close: () => undefined,
  };
  const reader = new MappedAnswer(run, mapping, new AnswerReader(run, noFiles, threads, 1_000_000));
  const reading =
    kind === 'stream'
      ? reader.readStream(answer)
      : kind === 'lines'
        ? reader.readLines(answer)
        : reader.readJson(answer);
  try {
    return { run, output: (await reading)?.toString(), failure: undefined };
  } catch (error) {
    if (!(error instanceof RunFailure)) throw error;
    return { run, output: undefined, failure: error };
  }
}

const line = (value: unknown): string => `${JSON.stringify(value)}\n`;

const texts = (run: TestRun): string => run.deltas.map((delta) => JSON.parse(delta) as string).join('');

describe.each(Object.entries(recorded))('%s', (_, { stream, said, answer, ...how }) => {
  const bytes = Buffer.from(stream);

  test('has the same output as the answer without a stream, and emits its texts as deltas', async () => {
    const { run, output, failure } = await read([stream], how);
    expect(failure).toBeUndefined();
    expect([JSON.parse(output!), texts(run)]).toEqual([answer, said]);
  });

  test('is the same wherever the network splits it', async () => {
    const one = await read([stream], how);
    for (let at = 1; at < bytes.length; at++) {
      const { run, output } = await read([bytes.subarray(0, at), bytes.subarray(at)], how);
      expect([at, output, run.deltas]).toEqual([at, one.output, one.run.deltas]);
    }
    const single = await read(
      [...bytes].map((byte) => Buffer.from([byte])),
      how,
    );
    expect([single.output, single.run.deltas]).toEqual([one.output, one.run.deltas]);
  });

  test('is broken if the connection breaks before its end mark, and complete after it', async () => {
    const isWhole = async (length: number): Promise<boolean> => {
      const { output, failure } = await read([bytes.subarray(0, length), broke()], how);
      if (failure !== undefined) expect(failure.options).toMatchObject({ outage: 'costly', retryable: true });
      return output !== undefined;
    };
    const wholes: boolean[] = [];
    for (let length = 0; length <= bytes.length; length++) wholes.push(await isWhole(length));
    const first = wholes.indexOf(true);
    expect(first).toBeGreaterThan(bytes.length / 2);
    expect(wholes.slice(first)).not.toContain(false);
  });

  test('counts once where the server sends it twice', async () => {
    const { run, output } = await read([stream, stream], how);
    expect([JSON.parse(output!), texts(run)]).toEqual([answer, said]);
  });
});

test('each stream is complete when the server never closes it after its end mark', async () => {
  const endless = Object.entries(recorded).map(async ([name, { stream, answer, ...how }]) => {
    const { output } = await read([stream, new Promise<never>(() => undefined)], how);
    expect([name, JSON.parse(output!)]).toEqual([name, answer]);
  });
  await Promise.all(endless);
});

test('a chat without [DONE] is complete if all its choices have ended and the body has an explicit end', async () => {
  const stream = chunk({ role: 'assistant', content: 'Hi' }) + chunk({}, 'stop');
  expect((await read([stream], { preset: 'openai' })).output).toContain('"content":"Hi"');
  const cut = await read([stream], { preset: 'openai', hasOwnEnd: false });
  expect(cut.failure?.message).toBe("The model's stream ended without its end mark ([DONE]).");
  const open = await read([chunk({ role: 'assistant', content: 'Hi' })], { preset: 'openai' });
  expect(open.failure?.options.outage).toBe('costly');
});

test.each(['', '\n', '\r\n'])('the last event may lack its blank line, and end with %j', async (end) => {
  const stream = chunk({ role: 'assistant', content: 'Hi' });
  const mark = await read([stream, chunk({}, 'stop'), `data: [DONE]${end}`], {
    preset: 'openai',
    hasOwnEnd: false,
  });
  expect(mark.output).toContain('"content":"Hi"');
  const last = await read([event({ text: 'a' }), event({ text: 'b', last: 1 }).trim() + end], {
    options: { response: { delta: '$.text', end: '$.last' } },
    hasOwnEnd: false,
  });
  expect(texts(last.run)).toBe('ab');
  const cut = await read([stream, chunk({}, 'stop').slice(0, -10) + end], { preset: 'openai' });
  expect(cut.failure?.options.outage).toBe('costly');
});

describe('a stream whose server dies behind a proxy that ends the body properly', () => {
  const ollama = 'http://gpu:11434/api/chat';
  const line = (content: string, done: boolean): string =>
    `${JSON.stringify({ model: 'm', message: { role: 'assistant', content }, done })}\n`;
  /** Returns the bytes up to the middle of the first letter ë. */
  const cutInLetter = (text: string): Buffer => {
    const bytes = Buffer.from(text);
    return bytes.subarray(0, bytes.indexOf('ë') + 1);
  };

  test.each([
    ['a line', line('a', false).slice(0, -10)],
    ['a character of a line', cutInLetter(line('ë', false))],
    ['the pause between two lines', ''],
  ])('is broken within %s', async (_, tail) => {
    const how = { preset: 'ollama', url: ollama, kind: 'lines' } as const;
    const { failure } = await read([line('a', false), tail], how);
    expect(failure?.message).toBe("The model's stream ended without its end mark ($.done).");
    expect(failure?.options).toMatchObject({ outage: 'costly', retryable: true });
    const whole = await read([line('a', false), line('', true), tail], how);
    expect(whole.output).toContain('"content":"a"');
  });

  test.each([
    ['an event', chunk({ content: 'b' }).slice(0, -10)],
    ['a character of an event', cutInLetter(chunk({ content: 'ë' }))],
    ['a character after a whole object', cutInLetter('data: {}ë')],
    ['the pause between two events', ''],
  ])('is broken within %s', async (_, tail) => {
    const { failure } = await read([chunk({ content: 'a' }), tail], { preset: 'openai' });
    expect(failure?.message).toBe("The model's stream ended without its end mark ([DONE]).");
    expect(failure?.options).toMatchObject({ outage: 'costly', retryable: true });
    const whole = await read([event({ content: 'a', stop: true }), tail], { preset: 'llama.cpp' });
    expect(whole.output).toBe('{"content":"a","stop":true}');
  });

  test.each(['lines', 'stream'] as const)('is no output of %s that have no end mark', async (kind) => {
    const pieces =
      kind === 'lines' ? ['{"text":"a"}\n', '{"text":'] : [event({ text: 'a' }), 'data: {"text":'];
    const { failure } = await read(pieces, { kind, options: { response: { delta: '$.text' } } });
    expect(failure?.message).toBe("The model's stream ended within a line or an event.");
    expect(failure?.options).toMatchObject({ outage: 'costly', retryable: true });
  });

  test.each([
    ['a line that is not JSON', ['{"text":"a"}\n', '{"text":\n'], 'contains a line that is not JSON'],
    ['a line that is not UTF-8', [Buffer.from([0xc3, 0x0a])], 'is not UTF-8'],
  ])('is final after %s and its line feed', async (_, pieces, message) => {
    const { failure } = await read(pieces, { preset: 'ollama', url: ollama, kind: 'lines' });
    expect(failure?.message).toContain(message);
    expect(failure?.options.retryable).toBe(false);
  });
});

test('a transcription of texts only is complete if the body has an explicit end', async () => {
  const stream = event({ text: 'Hello there.' }) + event({ text: 'Again.', segments: [] });
  const url = 'http://gpu:8000/v1/audio/transcriptions';
  const { output } = await read([stream], { preset: 'openai', url });
  expect(output).toBe('{"text":"Hello there. Again."}');
  const cut = await read([stream], { preset: 'openai', url, hasOwnEnd: false });
  expect(cut.failure?.options.outage).toBe('costly');
  const open = [event({ type: 'transcript.text.delta', delta: 'Hello' })];
  expect((await read(open, { preset: 'openai', url })).failure?.options.outage).toBe('costly');
});

test('the stream of a response may have [DONE] after its end', async () => {
  const { stream, answer, url } = recorded['a response']!;
  const { output } = await read([stream + done], { preset: 'openai', url: url! });
  expect(JSON.parse(output!)).toEqual(answer);
});

test.each([
  ['with an error', { type: 'response.failed', response: { status: 'failed', error: { message: 'Boom.' } } }],
  ['as an event of its own', { type: 'error', code: 'server_error', message: 'Boom.', param: null }],
])('the stream of a response fails %s', async (_, last) => {
  const url = 'http://gpu:8000/v1/responses';
  const { failure } = await read([event(last)], { preset: 'openai', url });
  expect(failure?.message).toBe('Boom.');
});

test('a stream that ends with an incomplete response has this response as its output', async () => {
  const url = 'http://gpu:8000/v1/responses';
  const response = { object: 'response', status: 'incomplete', output: [] };
  const { output } = await read([event({ type: 'response.incomplete', response })], {
    preset: 'openai',
    url,
  });
  expect(JSON.parse(output!)).toEqual(response);
});

test.each([
  ['a finish reason', chunk({ role: 'assistant', content: 'Hi' })],
  ['a choice', ''],
])(
  'a chat with [DONE] but without %s fails its attempt, and its server does not count as away',
  async (_, said) => {
    const { failure } = await read([said, done], { preset: 'openai' });
    expect(failure?.message).toBe(
      "The model's stream ended with its end mark ([DONE]), but a choice or its finish_reason is missing, so the answer may be incomplete.",
    );
    expect(failure?.options).toEqual({ code: 'model_error', retryable: true });
  },
);

test.each([
  ['a path', { delta: '$.text', end: '$.last' }, "The model's stream ended without its end mark ($.last)."],
  ['nothing', { delta: '$.text' }, /ended with its connection.* send Content-Length or chunks\.$/],
])('a stream fails if it ends with its connection and its end mark is %s', async (_, response, message) => {
  const { failure } = await read([event({ text: 'a' })], { options: { response }, hasOwnEnd: false });
  expect(failure?.message).toEqual(typeof message === 'string' ? message : expect.stringMatching(message));
});

test('a stream may continue while one of its choices has not ended', async () => {
  const choice = (index: number, finish_reason: string | null): string =>
    event({ choices: [{ index, delta: { content: 'a' }, finish_reason }] });
  // The second choice ends later than a stream may go on after its end mark.
  async function* late(): AsyncGenerator<Buffer> {
    yield Buffer.from(choice(0, null) + choice(1, null) + choice(0, 'stop'));
    const beganAt = performance.now();
    await until(() => performance.now() - beganAt > 2_100);
    yield Buffer.from(choice(1, 'stop'));
  }
  const { output } = await read(late(), {
    preset: 'openai',
    options: { response: { end: '$.choices[0].finish_reason' } },
  });
  expect((JSON.parse(output!) as { choices: unknown[] }).choices).toHaveLength(2);
});

test.each([
  ['an error object', event({ error: { message: 'CUDA out of memory', code: 500 } }), 'CUDA out of memory'],
  [
    'an error event',
    'event: error\ndata: {"message":"The prompt is too long"}\n\n',
    'The prompt is too long',
  ],
  ['an error as a text', event({ error: 'no memory' }), 'no memory'],
])('%s in a stream is the failure of the request', async (_, said, message) => {
  const { failure } = await read([chunk({ role: 'assistant', content: 'H' }), said, done], {
    preset: 'openai',
  });
  expect([failure?.message, failure?.options.retryable]).toEqual([message, false]);
});

test('a stream may report an error in the SSE field "error", as llama.cpp did', async () => {
  const said = 'error: {"code":400,"message":"the request exceeds the context size","type":"invalid"}\n\n';
  for (const [preset, url] of [['openai'], ['llama.cpp', 'http://gpu:8080/completion']] as const) {
    const { failure } = await read([`error: comes\n\n${said}`], { preset, ...(url && { url }) });
    expect(failure).toMatchObject({
      message: 'the request exceeds the context size',
      options: { code: 'model_error', retryable: false },
    });
  }
});

test('a stream that is silent for longer than its idle timeout is broken', async () => {
  const { failure } = await read([chunk({ content: 'H' }), new Promise<never>(() => undefined)], {
    preset: 'openai',
    options: { idle_timeout: '50ms' },
  });
  expect([failure?.message, failure?.options.outage]).toEqual([
    "The model's stream was silent for 0.05 s.",
    'costly',
  ]);
});

test.each([
  ['failed', '{"status":"failed","error":"CUDA out of memory","output":null}', 'CUDA out of memory'],
  ['failed without words', '{"status":"failed","error":"","output":null}', 'failed'],
  ['cancelled', '{"status":"canceled","output":null}', 'canceled'],
])('a prediction of Cog that %s is a failure', async (_, body, message) => {
  const { failure } = await read([body], { preset: 'cog', kind: 'json' });
  expect(failure?.message).toBe(message);
});

test('the output of a prediction of Cog is its member "output", even if it is null', async () => {
  const outputs = ['["a","b"]', 'null', '{"x":1}'].map(async (output) => {
    const body = `{"status":"succeeded","output":${output}}`;
    return (await read([body], { preset: 'cog', kind: 'json' })).output;
  });
  expect(await Promise.all(outputs)).toEqual(['["a","b"]', 'null', '{"x":1}']);
});

describe('a stream whose outputs are empty', () => {
  const how = { options: { response: { delta: '$.text', output: '$.output' } } };

  test.each(['stream', 'lines'] as const)('has the first of them as its output: %s', async (kind) => {
    for (const values of [[''], [false], [null, ''], ['', false]]) {
      const parts = values.map((output) => (kind === 'stream' ? event : line)({ output }));
      const { output } = await read(parts, { ...how, kind });
      expect([values, output]).toEqual([values, JSON.stringify(values[0])]);
    }
  });

  test('has another output, or its deltas, in their place', async () => {
    const other = [event({ output: '' }), event({ output: 'a' }), event({ output: null })];
    expect((await read(other, how)).output).toBe('"a"');
    const { run, output, failure } = await read([event({ text: 'b', output: null })], how);
    expect([texts(run), output, failure]).toEqual(['b', undefined, undefined]);
  });
});

test.each([
  ['an object', '{"a":1}', undefined],
  ['an array', '[{"a":1}]', undefined],
  ['a number', '12', /send Content-Length/],
  ['a text', '"abc"', /send Content-Length/],
  ['half of an object', '{"a":', /send Content-Length/],
])(
  '%s that ends with its connection succeeds only as a complete object or array',
  async (_, body, message) => {
    const { output, failure } = await read([body], { preset: 'openai', kind: 'json', hasOwnEnd: false });
    if (message === undefined) expect(output).toBe(body);
    else expect(failure?.message).toMatch(message);
  },
);

test('a stream is complete if the server is silent or continues after its end mark', async () => {
  const stream = 'data: {"content":"a","stop":false}\n\ndata: {"content":"","stop":true}\n\n';
  const lines = Array.from({ length: 100 }, () => ': more\n\n');
  const { output } = await read([stream, ...lines, new Promise<never>(() => undefined)], {
    preset: 'llama.cpp',
    options: { idle_timeout: '1h' },
  });
  expect(JSON.parse(output!)).toEqual({ content: 'a', stop: true });
});

describe('a stream without output for its limit', () => {
  const text = 'x'.repeat(10_000);
  const call = (index: number, more: object): object => ({ tool_calls: [{ index, ...more }] });

  test.each<[string, (at: number) => string]>([
    ['the text of its reasoning', () => chunk({ reasoning_content: text })],
    ['the arguments of a call', () => chunk(call(0, { function: { arguments: text } }))],
    ['more and more calls', (at) => chunk(call(at, { id: `${at}${text}` }))],
    [
      'the text of another choice',
      () => event({ choices: [{ index: 0 }, { index: 1, delta: { content: text } }] }),
    ],
    ['members without a meaning', (at) => event({ choices: [], [`member${at}`]: text })],
  ])('fails at this limit by %s', async (_, next) => {
    let sent = 0;
    async function* endless(): AsyncGenerator<Buffer> {
      for (;;) yield Buffer.from(next(sent++));
    }
    const { failure } = await read(endless(), { preset: 'openai' });
    expect(failure?.message).toBe("The model's output is larger than 1000000 bytes.");
    expect(sent).toBeLessThan(110);
  });

  test('may come close to it', async () => {
    const parts = Array.from({ length: 98 }, () => chunk({ reasoning_content: text }));
    const { output } = await read([...parts, chunk({}, 'stop'), done], { preset: 'openai' });
    expect(output!.length).toBeGreaterThan(980_000);
  });

  test('fails at a multiple of it if it has no chunks', async () => {
    const comments = Buffer.from(`: ${'x'.repeat(900_000)}\n`);
    const { failure } = await read(
      Array.from({ length: 80 }, () => comments),
      { preset: 'openai' },
    );
    expect(failure?.message).toBe("The model's output is larger than 1000000 bytes.");
  });
});

test.each([
  ['events without a text', 'data:{}\n\n'.repeat(20_000), 'stream', 'openai'],
  ['fields without a meaning', 'a\n'.repeat(500_000), 'stream', 'openai'],
  ['blank lines', '\n'.repeat(500_000), 'lines', 'ollama'],
] as const)('a long chunk of %s leaves turns to other calls', async (_, bytes, kind, preset) => {
  let turns = 0;
  let isRead = false;
  const turn = (): void => {
    turns++;
    if (!isRead) setImmediate(turn);
  };
  setImmediate(turn);
  const url = preset === 'ollama' ? 'http://gpu:11434/api/chat' : chatUrl;
  await read([bytes], { kind, preset, url });
  isRead = true;
  expect(turns).toBeGreaterThan(0);
});

test.each(['\n', '\r\n', '\r'])('lines of an event stream may end with %j', async (end) => {
  const { stream, answer, ...how } = recorded['a response']!;
  const { output } = await read([stream.replaceAll('\n', end)], how);
  expect(JSON.parse(output!)).toEqual(answer);
  const bytes = [...Buffer.from(stream.replaceAll('\n', end))].map((byte) => Buffer.from([byte]));
  expect((await read(bytes, how)).output).toBe(output);
});

test('an event may have several lines of data, comments and fields without a meaning', async () => {
  const stream = '\ufeff: ping\nid: 1\nretry: 5\nnonsense\ndata: {"text":\ndata:"a"}\nmore: 1\n\n\n\n';
  const { run } = await read([stream], { options: { response: { delta: '$.text' } } });
  expect(run.deltas).toEqual(['"a"']);
});
