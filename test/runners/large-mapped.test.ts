import { createHash } from 'node:crypto';
import { Logger } from '@nestjs/common';
import { Subject } from 'rxjs';
import { Config } from '../../src/config/config.js';
import { assemblerOf } from '../../src/json/assemblers.js';
import type { JobKind, Jobs, Results } from '../../src/json/jobs.js';
import { type JobOptions, JsonThreads } from '../../src/json/json-threads.js';
import type { ModelsService } from '../../src/models/models.service.js';
import { HttpRunner } from '../../src/runners/http-runner.js';
import { Tracing } from '../../src/tracing/tracing.js';
import { ModelServer } from '../support/model-server.js';
import { failureOf, filesBy, testRun, type TestRun } from '../support/test-run.js';

/** Notes which jobs are done in threads. */
class NotedThreads extends JsonThreads {
  readonly kinds: JobKind[] = [];

  override run<Kind extends JobKind>(
    kind: Kind,
    job: Jobs[Kind],
    bytes: Buffer,
    options: JobOptions,
  ): Promise<[Results[Kind], Buffer]> {
    this.kinds.push(kind);
    return super.run(kind, job, bytes, options);
  }
}

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

const files = filesBy((bytes, contentType) => `${contentType} ${sha256(bytes)}`);

let threads: NotedThreads;
let runner: HttpRunner;
let server: ModelServer;

beforeAll(() => Logger.overrideLogger(false));

beforeEach(async () => {
  threads = new NotedThreads({ changes: new Subject(), file: [] } as Partial<ModelsService> as ModelsService);
  runner = new HttpRunner(new Config(), new Tracing(), files, threads);
  server = await new ModelServer().start();
});

afterEach(async () => {
  await server.stop();
  await threads.onApplicationShutdown();
});

/** Answers each call with the JSON at its path, or with the text that is given. */
function answers(byPath: Record<string, unknown>, type = 'application/json'): void {
  server.respond = ({ url, response }) => {
    const [found] = Object.entries(byPath)
      .filter(([path]) => url.startsWith(path))
      .map(([, value]) => value);
    response.writeHead(200, { 'content-type': type });
    response.end(typeof found === 'string' ? found : JSON.stringify(found));
  };
}

function run(options: object, input: unknown = { prompt: 'a cat' }): TestRun {
  return testRun({ kind: 'http', url: server.url, headers: {}, ...options }, JSON.stringify(input));
}

const result = async (one: TestRun): Promise<unknown> => JSON.parse(String(await runner.run(one)));

/** Ten megabytes of values. */
const many = Array.from({ length: 100_000 }, (_, i) => ({ i, text: `${'x'.repeat(80)}\0` }));
const cleaned = many.map(({ i, text }) => ({ i, text: text.replace('\0', '\ufffd') }));
const picture = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(1_000_000, 7)]);

test('an answer of 10 MB is read in a thread, with its log, progress and usage', async () => {
  answers({ '/predict': { result: many, note: 'hello', share: 0.5, used: { tokens: 7 } } });
  const response = { output: '$.result', log: '$.note', progress: '$.share', usage: '$.used' };
  const one = run({ response });
  expect(await result(one)).toEqual(cleaned);
  expect([one.lines, one.steps, one.usages]).toEqual([
    [{ level: 'INFO', message: 'hello' }],
    [[0.5, undefined]],
    [{ tokens: 7 }],
  ]);
  expect(threads.kinds).toEqual(['mapped']);
});

test('an answer that is the output as a whole is passed on byte for byte', async () => {
  const text = `{"n": 12345678901234567890, "x":1e400, "text":"${'x'.repeat(100_000)}"}`;
  answers({ '/predict': text });
  expect(String(await runner.run(run({ response: { error: '$.error' } })))).toBe(text);
  expect(threads.kinds).toEqual(['mapped']);
});

test.each([
  [
    'an error',
    { error: { message: 'no memory', trace: many } },
    {},
    'The model reports an error without a message.',
  ],
  ['a brief error', { error: 'no memory', retry: true, rest: many }, { retryable: true }, 'no memory'],
  ['no output', { rest: many }, {}, 'The model\'s answer has no output at the path of "output".'],
])('a large answer with %s is a failure', async (_, answer, options, message) => {
  answers({ '/predict': answer });
  const response = { output: '$.result', error: ['$.error'], retryable: '$.retry' };
  const failure = await failureOf(runner, run({ response }));
  expect([failure.message, failure.options]).toMatchObject([message, options]);
});

test('a large answer that is not JSON is a failure', async () => {
  answers({ '/predict': `{"a":"${'x'.repeat(100_000)}"` });
  expect((await failureOf(runner, run({ response: {} }))).message).toMatch(/cannot be read as JSON/);
});

test('files are decoded in the thread and replaced by their URLs', async () => {
  const b64_json = picture.toString('base64');
  const data = [{ b64_json, a: 1 }, { b64_json }, { url: 'http://elsewhere/' }];
  answers({ '/v1/images/generations': { data } });
  const url = new URL('/v1/images/generations', server.url).href;
  const stored = `image/png ${sha256(picture)}`;
  expect(await result(run({ preset: 'openai', url }))).toEqual({
    data: [{ url: stored, a: 1 }, { url: stored }, { url: 'http://elsewhere/' }],
  });
  expect(threads.kinds).toEqual(['mapped']);
});

test('an output that is a file as a whole becomes its URL', async () => {
  answers({ '/predict': { output: `data:image/png;base64,${picture.toString('base64')}` } });
  const response = { output: '$.output', files: { path: '$', data_urls: true } };
  expect(await result(run({ response }))).toBe(`image/png ${sha256(picture)}`);
});

test.each([10, 100_000])('an output with files keeps its numbers: %i characters', async (length) => {
  const small = picture.subarray(0, 100);
  const [more, data] = ['x'.repeat(length), small.toString('base64')];
  const json = `{"data": [{"b64_json": "${data}", "url": null, "n": 12345678901234567890}, [1e400]], "more": "${more}"}`;
  server.respond = ({ response }) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(json);
  const whole = await runner.run(run({ response: { files: '$.data[*].b64_json' } }));
  expect(String(whole)).toBe(
    `{"data":[{"url":"image/png ${sha256(small)}","n":12345678901234567890},[1e400]],"more":"${more}"}`,
  );
});

test('only data URLs are files when the mapping sets data_urls', async () => {
  const hash = 'a'.repeat(64);
  answers({ '/predict': [hash, 'data:text/plain,a%20b%zz'] });
  expect(await result(run({ response: { files: { path: '$[*]', data_urls: true } } }))).toEqual([
    hash,
    `text/plain ${sha256(Buffer.from('a b%zz'))}`,
  ]);
});

test('a large answer of a run that is followed is read in a thread, with files at the server', async () => {
  const images = [{ name: 'a b' }];
  answers({
    '/predict': { id: 7 },
    '/jobs/7': { state: 'done', output: { images, many } },
    '/view': picture.toString('latin1'),
  });
  const follow = {
    url: '{base}/jobs/{$.id}',
    done: { path: '$.state', in: ['done'] },
    output: '$.output',
    files: { path: '$.images[*]', url: '{base}/view?name={$.name}' },
  };
  const output = (await result(run({ follow }))) as { images: { url: string }[]; many: unknown };
  expect(output.many).toEqual(cleaned);
  expect(output.images[0]!.url).toMatch(/^application\/json /);
  expect(threads.kinds).toEqual(['mapped']);
  expect(server.calls.at(-1)!.url).toBe('/view?name=a%20b');
});

test('a large event of a stream is read in a thread', async () => {
  const last = { status: 'succeeded', output: [`data:image/png;base64,${picture.toString('base64')}`] };
  const events = [{ chunk: 'a' }, last].map((event) => `data: ${JSON.stringify(event)}\n\n`);
  answers({ '/predictions': events.join('') }, 'text/event-stream');
  const one = run({ preset: 'cog', url: new URL('/predictions', server.url).href });
  expect(await result(one)).toEqual([`image/png ${sha256(picture)}`]);
  expect(one.deltas).toEqual(['"a"']);
  expect(threads.kinds).toEqual(['mapped']);
});

test('a large event whose output is null has no other output', async () => {
  answers({ '/predict': `data: ${JSON.stringify({ output: null, many })}\n\n` }, 'text/event-stream');
  expect(await result(run({ response: { output: '$.output' } }))).toBeNull();
});

describe('an assembled stream', () => {
  const url = (): string => new URL('/v1/chat/completions', server.url).href;
  const head = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' };
  const said = (delta: object, finish_reason: string | null = null, index = 0): object => ({
    ...head,
    choices: [{ index, delta, logprobs: null, finish_reason }],
  });
  const long = 'x'.repeat(100_000);
  const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
  const chunks = [
    said({ role: 'assistant', content: 'a' }),
    said({ role: 'assistant', content: '' }, null, 1),
    said({ content: long }),
    said({ content: 'b' }),
    said({
      tool_calls: [
        { index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"a":"' } },
      ],
    }),
    said({ tool_calls: [{ index: 0, function: { arguments: long } }] }, null, 1),
    said({ tool_calls: [{ index: 0, function: { arguments: '"}' } }] }, 'tool_calls'),
    said({ content: 'c' }, 'stop', 1),
    { ...head, choices: [], usage },
  ];
  const stream = (events: readonly object[]): string =>
    [...events.map((event) => JSON.stringify(event)), '[DONE]'].map((data) => `data: ${data}\n\n`).join('');

  test('has its large events added in a thread, and the same output', async () => {
    answers({ '/v1/chat/completions': stream(chunks) }, 'text/event-stream');
    const one = run({ preset: 'openai', url: url() });
    const assembler = assemblerOf('chat');
    for (const chunk of structuredClone(chunks)) assembler.add(chunk as Record<string, unknown>);
    expect(await result(one)).toEqual(assembler.output);
    expect(one.deltas.map((delta) => JSON.parse(delta) as string).join('')).toBe(`a${long}b`);
    expect(one.chunks.map((chunk) => JSON.parse(chunk) as object)).toEqual(chunks);
    expect(one.usages).toEqual([usage]);
    expect(threads.kinds).toEqual(['mapped', 'assembled', 'mapped', 'assembled', 'assembled']);
  });

  test('fails if a choice of a large event has not ended', async () => {
    const [cut] = [chunks.filter((_, at) => at !== 7)];
    answers({ '/v1/chat/completions': stream(cut) }, 'text/event-stream');
    const failure = await failureOf(runner, run({ preset: 'openai', url: url() }));
    expect(failure.message).toMatch(/finish_reason is missing/);
    // The server has said that it is done, so it is not away.
    expect(failure.options).toMatchObject({ retryable: true });
    expect(failure.options.outage).toBeUndefined();
  });

  test.each([
    [
      'joined',
      'llama.cpp',
      '/completion',
      [{ content: long }, { content: 'b' }, { content: '', stop: true }],
      { content: `${long}b`, stop: true },
    ],
    [
      'the last one',
      'tgi',
      '/generate_stream',
      [
        { token: { text: 'a' }, generated_text: null },
        { token: { text: 'b' }, generated_text: long },
      ],
      { generated_text: long },
    ],
  ])(
    'has its large events added in a thread when its output is %s',
    async (_, preset, path, events, output) => {
      answers(
        { [path]: events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('') },
        'text/event-stream',
      );
      expect(await result(run({ preset, url: new URL(path, server.url).href }))).toEqual(output);
      expect(threads.kinds).toEqual(['mapped', 'assembled', 'assembled']);
    },
  );
});

test('a large input is changed in a thread', async () => {
  answers({ '/predict': 1 });
  const request = { set: { n: 2, prompt: null }, wrap: 'input' };
  await runner.run(run({ request }, { many, prompt: 'x' }));
  expect(JSON.parse(server.calls[0]!.body)).toEqual({ input: { many, n: 2 } });
  expect(threads.kinds).toEqual(['body']);
});

test('a large input becomes a form in a thread', async () => {
  answers({ '/predict': 1 });
  const request = { multipart: { file: '$.file', model: 'whisper-1', '*': '$' } };
  await runner.run(
    run({ request }, { file: `data:image/png;base64,${picture.toString('base64')}`, words: ['a', 2] }),
  );
  const { bytes, headers } = server.calls[0]!;
  const form = await new Response(new Uint8Array(bytes), {
    headers: { 'content-type': headers['content-type']! },
  }).formData();
  const file = form.get('file') as File;
  expect([file.type, sha256(Buffer.from(await file.arrayBuffer()))]).toEqual(['image/png', sha256(picture)]);
  expect([form.get('model'), form.getAll('words[]')]).toEqual(['whisper-1', ['a', '2']]);
  expect(threads.kinds).toEqual(['body']);
});

test('small bodies are read without a thread', async () => {
  answers({ '/predict': { output: 1 } });
  expect(await runner.run(run({ request: { set: { a: 1 } }, response: { output: '$.output' } }))).toBe('1');
  expect(threads.kinds).toEqual([]);
});

test('an answer that takes too long to read may be read after another attempt', async () => {
  threads.bounds.reading = 0;
  answers({ '/predict': { result: many } });
  const { message, options } = await failureOf(runner, run({ response: { output: '$.result' } }));
  expect(message).toBe("The model's answer takes too much time or memory to read.");
  expect(options.retryable).toBe(true);
});

test('the processor time of other threads is not that of a job', async () => {
  const { cpuUsage } = process;
  let looks = 0;
  process.cpuUsage = () => ({ user: 1e9 * looks++, system: 0 });
  try {
    answers({ '/predict': { result: many } });
    expect(await result(run({ response: { output: '$.result' } }))).toEqual(cleaned);
    // The time was read while the job was in progress.
    expect(looks).toBeGreaterThan(1);
  } finally {
    process.cpuUsage = cpuUsage;
  }
});
