import { Allow } from 'class-validator';
import { ConfigError } from '../../src/config/config.js';
import { ModelsFile, parseModels } from '../../src/models/models-file.js';
import { RunnerOptions } from '../../src/models/runner-kind.js';
import { runnerKinds } from '../../src/runners/runners.module.js';

const environment = { TOKEN: 'hush-hush', EMPTY: '', BROKEN: 'hush\nhush', HOST: 'models.internal' };

function parse(text: string) {
  return parseModels(text, 'models.yaml', environment, runnerKinds);
}

function faultsOf(text: string): string[] {
  try {
    parse(text);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message.split('\n');
  }
  throw new Error('the file was taken');
}

/** A model whose options, indented by four, begin on line 4. */
function withOptions(options: string): string {
  return `models:\n  - id: a/b\n    runner: { kind: demo, demo: echo }\n    ${options}\n`;
}

/** A model whose runner stands on line 3. */
function withRunner(runner: string): string {
  return `models:\n  - id: a/b\n    runner: ${runner}\n`;
}

describe('the shipped models file', () => {
  const models = new ModelsFile('models.yaml', {}, runnerKinds).read();

  it('has the four demos', () => {
    expect(models.map(({ id }) => id)).toEqual([
      'demo/text/echo',
      'demo/image/fractal',
      'demo/text/story',
      'demo/text/flaky',
    ]);
  });

  it('keeps the fractal within its bounds', () => {
    const fractal = models.find(({ id }) => id === 'demo/image/fractal')!;
    expect(fractal.validate({ prompt: 'a' })).toEqual([]);
    for (const wrong of [{ width: 15 }, { height: 2049 }, { steps: 0 }, { width: '16' }, { prompt: '' }]) {
      expect(fractal.validate({ prompt: 'a', ...wrong })).toHaveLength(1);
    }
  });
});

describe('a models file', () => {
  it('has defaults for all but id and runner', () => {
    const [model] = parse(withRunner('{ kind: http, url: "http://127.0.0.1:9000/predict" }'));
    expect(model).toMatchObject({
      id: 'a/b',
      aliases: [],
      description: '',
      runner: { kind: 'http', url: 'http://127.0.0.1:9000/predict', headers: {} },
      concurrency: 1,
      timeoutMs: 600_000,
      expiresMs: null,
      attempts: 3,
      lostAttempts: 2,
      retry: { baseMs: 1_000, capMs: 60_000, on: ['error'] },
      circuit: true,
      retentionMs: null,
      retentionPayloadMs: null,
      inputSchema: null,
    });
    expect(model!.validate({ any: 'thing' })).toEqual([]);
  });

  it('has no concurrency for a model of workers unless one is set', () => {
    const text = withRunner('{ kind: worker }');
    expect(parse(text)[0]).toMatchObject({ concurrency: null, runner: { kind: 'worker' } });
    expect(parse(`${text}    concurrency: 3\n`)[0]).toMatchObject({ concurrency: 3 });
    expect(faultsOf(withRunner('{ kind: worker, url: x }'))).toEqual([
      'models.yaml line 3: unknown option "url"',
    ]);
  });

  it('may set every option of a model', () => {
    const options = [
      'aliases: [gpt-4o-mini, "llama3:8b"]',
      'description: Upscales.',
      'concurrency: 4',
      'timeout: 120s',
      'expires: 1h',
      'attempts: 5',
      'lost_attempts: 7',
      'retry: { base: 500ms, cap: 5m, on: [timeout, error] }',
      'circuit: off',
      'retention: 30d',
      'retention_payload: 12h',
      'input_schema: { type: object, required: [image_url] }',
    ];
    expect(parse(withOptions(options.join('\n    ')))[0]).toMatchObject({
      aliases: ['gpt-4o-mini', 'llama3:8b'],
      description: 'Upscales.',
      concurrency: 4,
      timeoutMs: 120_000,
      expiresMs: 3_600_000,
      attempts: 5,
      lostAttempts: 7,
      retry: { baseMs: 500, capMs: 300_000, on: ['timeout', 'error'] },
      circuit: false,
      retentionMs: 30 * 86_400_000,
      retentionPayloadMs: 12 * 3_600_000,
      inputSchema: { type: 'object', required: ['image_url'] },
    });
  });

  it('may use a name, as an id or alias, for one model only', () => {
    const entry = (id: string, aliases: string): string =>
      `  - id: ${id}\n    aliases: [${aliases}]\n    runner: { kind: demo, demo: echo }\n`;
    const text = `models:\n${entry('a/b', 'one')}${entry('c', 'two, one')}${entry('d', 'a/b')}`;
    expect(faultsOf(text)).toEqual([
      'models.yaml line 6: aliases: "one" already names the model "a/b"',
      'models.yaml line 9: aliases: "a/b" already names the model "a/b"',
    ]);
  });

  it('may have a number for seconds, and YAML aliases for repeated parts', () => {
    const [a, b] = parse(
      'models:\n  - { id: a, timeout: 5, runner: &r { kind: demo, demo: echo } }\n  - { id: b, runner: *r }\n',
    );
    expect(a!.timeoutMs).toBe(5_000);
    expect(b!.runner).toEqual({ kind: 'demo', demo: 'echo' });
  });

  it('has ${NAME} replaced by environment variables in the url and the headers', () => {
    const runner =
      '{ kind: http, url: "http://${HOST}/run", headers: { Authorization: "Bearer ${TOKEN}", x-n: 7 } }';
    expect(parse(withRunner(runner))[0]!.runner).toEqual({
      kind: 'http',
      url: 'http://models.internal/run',
      headers: { authorization: 'Bearer hush-hush', 'x-n': '7' },
    });
  });

  it('may have several addresses, with environment variables', () => {
    const [model] = parse(withRunner('{ kind: http, urls: ["http://${HOST}/a", "http://${HOST}/b"] }'));
    expect(model!.runner.addresses()).toEqual(['http://models.internal/a', 'http://models.internal/b']);
  });

  it('has environment variables in maps within lists, as in messages or cancel calls', () => {
    const options =
      'request: { set: { messages: [{ role: system, content: "${TOKEN}" }] } }, follow: { url: "{url}/{$.id}", ' +
      'done: $.done, cancel: [{ url: "{url}/stop", body: { token: "${TOKEN}" } }] }';
    const [model] = parse(withRunner(`{ kind: http, url: "http://a/", ${options} }`));
    expect(model!.runner).toMatchObject({
      request: { set: { messages: [{ content: 'hush-hush' }] } },
      follow: { cancel: [{ body: { token: 'hush-hush' } }] },
    });
  });

  it.each([
    'headers: { authorization: "Bearer ${TOKEN}" }',
    'request: { url: "/run?api_key=${TOKEN}" }',
    'request: { multipart: { token: "${TOKEN}" } }',
    'follow: { url: "{url}/jobs?a=1&token=${TOKEN}", done: $.done }',
    'follow: { url: "{url}", done: $.done, cancel: [{ url: "/stop", body: { secret: ["${TOKEN}"] } }] }',
    'health: { url: "/health?key=${TOKEN}" }',
  ])('may have a secret in %s, which is treated as secret', (options) => {
    const [model] = parse(withRunner(`{ kind: http, url: "http://a/", ${options} }`));
    expect(model!.runner.secrets()).toContain('hush-hush');
  });

  it('has environment variables in lists of texts, for a runner kind with lists', () => {
    class Command extends RunnerOptions {
      @Allow()
      args: unknown;
    }
    const kinds = [{ kind: 'command', Options: Command }];
    const parseArgs = (args: string): unknown =>
      parseModels(withRunner(`{ kind: command, args: ${args} }`), 'models.yaml', environment, kinds)[0]!
        .runner;
    expect(parseArgs('["--token=${TOKEN}", 7, ["${HOST}"]]')).toMatchObject({
      args: ['--token=hush-hush', 7, ['models.internal']],
    });
    expect(() => parseArgs('[a, "${MISSING}"]')).toThrow(
      'models.yaml line 3: args: the environment variable MISSING is not set',
    );
  });

  it.each([
    ['concurency: 2', 'unknown option "concurency", did you mean "concurrency"?'],
    ['wibble: 2', 'unknown option "wibble"'],
    ['concurrency: 0', 'concurrency: expected a whole number from 1 to 10000'],
    ['concurrency: 1.5', 'concurrency: expected a whole number from 1 to 10000'],
    ['concurrency: "2"', 'concurrency: expected a whole number from 1 to 10000'],
    ['attempts: 101', 'attempts: expected a whole number from 1 to 100'],
    ['lost_attempts: 0', 'lost_attempts: expected a whole number from 1 to 100'],
    ['circuit: maybe', 'circuit: expected one of on, off'],
    ['retry: 3', 'retry: expected a map such as { base: 1s, cap: 1m }'],
    ['retry: { bas: 1s }', 'unknown option "bas", did you mean "base"?'],
    ['retry: { base: 2m }', 'base: expected at most the duration of "cap"'],
    ['retry: { on: error }', 'on: expected a list of timeout, error, such as [error]'],
    ['timeout: 0s', 'timeout: expected a duration from 1ms to 7d'],
    ['timeout: 8d', 'timeout: expected a duration from 1ms to 7d'],
    ['timeout: soon', 'timeout: expected a duration such as 250ms, 30s, 10m, 1h or 30d'],
    ['expires:', 'expires: expected a duration such as 250ms, 30s, 10m, 1h or 30d'],
    ['description: [a]', 'description: expected a text of at most 2000 characters'],
    ['input_schema: true', 'input_schema: expected a JSON Schema: a map such as { type: object, … }'],
    ['id: c', 'Map keys must be unique'],
    [
      'aliases: [two words]',
      'aliases: expected a list of at most 100 names, each of 1 to 256 letters, digits and "._:/@-", the first a letter or digit, such as [gpt-4o-mini]',
    ],
    [
      'aliases: [_llama]',
      'aliases: expected a list of at most 100 names, each of 1 to 256 letters, digits and "._:/@-", the first a letter or digit, such as [gpt-4o-mini]',
    ],
    ['retention: !mine 3d', 'Unresolved tag; quote a text that begins with * or !'],
  ])('with %s is refused with its line', (option, message) => {
    expect(faultsOf(withOptions(option))).toEqual([`models.yaml line 4: ${message}`]);
  });

  it.each([
    [
      '{ kind: http, url: "http://a/", preset: opnai }',
      'preset: expected one of bentoml, cog, comfyui, gradio, llama.cpp, ollama, openai, tgi, did you mean "openai"?',
    ],
    [
      '{ kind: http, url: "http://a/v1/chat", preset: openai }',
      'the preset "openai" knows URLs that end with /chat/completions, /completions, /embeddings, /images/generations, ' +
        '/images/edits, /audio/transcriptions, /audio/translations, /audio/speech, /responses; it does not know this path',
    ],
    [
      '{ kind: http, url: "http://a/", response: { delta: choices } }',
      'delta: expected a JSONPath such as $.choices[0].delta.content',
    ],
    [
      '{ kind: http, url: "http://a/", response: { delta: "$.a[" } }',
      "delta: is not a JSONPath (RFC 9535): unclosed bracketed selection ('$.a[':4)",
    ],
    [
      '{ kind: http, url: "http://a/", response: { chunks: $ } }',
      "chunks: expected true if the server's streams are those of OpenAI's API, else false",
    ],
    [
      '{ kind: http, url: "http://a/", response: { ouput: $.a } }',
      'ouput: unknown option, did you mean "output"?; there are delta, chunks, log, progress, output, error, retryable, end, ' +
        'usage, files, assemble',
    ],
    [
      '{ kind: http, url: "http://a/", request: { set: { user: "{tag}" } } }',
      'set: unknown placeholder {tag}; there are {request_id}, {run_id}, {attempt}, {key}, {priority}, {base}, {url}, ' +
        '{tag.<name>}',
    ],
    [
      '{ kind: http, url: "http://a/", request: { set: { user: "{$.id}" } } }',
      'set: {$.id} quotes the server\'s answer, which there is not yet; use it under "follow"',
    ],
    [
      '{ kind: http, url: "http://a/", follow: { url: "{base}/jobs/{$.id}" } }',
      `"follow" needs "url" and "done" or "events", such as { url: '{base}/jobs/{$.id}', done: $.output }`,
    ],
    [
      '{ kind: http, url: "http://a/", follow: { url: "{base}/jobs/{$.id}", events: { failed: error } } }',
      'events: expected the types of events, such as { done: complete, failed: error }',
    ],
    [
      '{ kind: http, url: "http://a/", preset: gradio, follow: { cancel: { url: /cancel } } }',
      '"cancel" of "follow" is not for a run whose "events" are read',
    ],
    [
      '{ kind: http, url: "http://a/", request: { headers: { Trailer: x-sum } } }',
      'headers: "Trailer" is set by the service itself',
    ],
    [
      '{ kind: http, url: "http://a/", follow: { headers: { transfer-encoding: chunked } } }',
      'headers: "transfer-encoding" is set by the service itself',
    ],
    [
      '{ kind: http, url: "http://a/", follow: { url: "http://b/jobs" } }',
      'url: expected a URL that begins with {base}/, {url} or /, because only the server of "url" is asked',
    ],
    [
      '{ kind: http, url: "http://a/", follow: { url: "{base}.b/jobs" } }',
      'url: expected a URL that begins with {base}/, {url} or /, because only the server of "url" is asked',
    ],
    [
      '{ kind: http, url: "http://a/", follow: { every: 2h } }',
      'every: expected a duration from 1ms to 1h, such as 2s',
    ],
    [
      '{ kind: http, url: "http://a/", follow: { dnoe: $.a } }',
      'dnoe: unknown option, did you mean "done"?; there are method, url, headers, every, events, done, failed, error, ' +
        'log, progress, output, result, files, cancel',
    ],
    [
      '{ kind: http, url: "http://a/", follow: { cancel: DELETE } }',
      "cancel: expected a map such as { method: DELETE, url: '{base}/jobs/{$.id}' }",
    ],
    [
      '{ kind: http, url: "http://a/", busy: 409 }',
      'busy: expected a list of HTTP statuses from 201 to 599, such as [409, 429]',
    ],
    [
      '{ kind: http, url: "http://a/", health: /health }',
      'health: expected a map such as { url: /health, every: 5s }, or off',
    ],
    [
      '{ kind: http, url: "http://a/", health: { url: "http://b/health" } }',
      'url: expected a path that begins with /, such as /health: only the server itself is asked',
    ],
    [
      '{ kind: http, url: "http://a/", health: { url: //b/health } }',
      'url: expected a path that begins with /, such as /health: only the server itself is asked',
    ],
    [
      '{ kind: http, url: "http://a/", health: { url: /health, every: 10ms } }',
      'every: expected a duration from 100ms to 1h, such as 5s',
    ],
    [
      '{ kind: http, url: "http://a/", health: { url: /health, evry: 5s } }',
      'evry: unknown option, did you mean "every"?; there are url, every, ready',
    ],
    [
      '{ kind: http, url: "http://a/", health: { every: 5s } }',
      '"health" needs "url", such as { url: /health, every: 5s }',
    ],
    ['{ kind: grpc }', 'kind: expected one of http, demo, worker'],
    ['{ kind: demo, demo: tune }', 'demo: expected one of echo, fractal, story, flaky'],
    ['{ kind: demo, demo: echo, url: "http://a" }', 'unknown option "url"'],
    ['{ kind: http }', '"url" or "urls" is missing'],
    ['{ kind: http, url: "http://a", urls: ["http://b"] }', 'expected "url" or "urls", not both'],
    ...['http://a', '[]', `[${Array(65).fill('http://a').join()}]`].map((urls) => [
      `{ kind: http, urls: ${urls} }`,
      'urls: expected a list of 1 to 64 URLs, such as [http://gpu-1:9000/, http://gpu-2:9000/]',
    ]),
    [
      '{ kind: http, urls: ["http://a", "ftp://b"] }',
      'urls: entry 2: expected a URL that begins with http:// or https://',
    ],
    ['{ kind: http, urls: [7] }', 'urls: entry 1: expected a text of at most 8192 characters'],
    ['{ kind: http, urls: ["http://a", "http://b", "http://A/"] }', 'urls: entry 3 is the same as entry 1'],
    ['{ kind: http, urls: ["http://a/${MISSING}"] }', 'urls: the environment variable MISSING is not set'],
    ['{ kind: http, url: "ftp://a/b" }', 'url: expected a URL that begins with http:// or https://'],
    ['{ kind: http, url: "http://a/${MISSING}" }', 'url: the environment variable MISSING is not set'],
    ['{ kind: http, url: "http://a/${EMPTY}" }', 'url: the environment variable EMPTY is not set'],
    ['{ kind: http, url: "http://a/${oops" }', 'url: expected a variable written as ${NAME}'],
    [
      '{ kind: http, url: "http://a", headers: { x-a: "${constructor}" } }',
      'x-a: the environment variable constructor is not set',
    ],
    [
      '{ kind: http, url: "http://a", headers: { x-a: "${BROKEN}" } }',
      'x-a: contains a character that no header may contain',
    ],
    ['{ kind: http, url: "http://a", headers: { "x a": b } }', 'x a: is not the name of a header'],
    ['{ kind: http, url: "http://a", headers: { X-Attempt: 1 } }', 'X-Attempt: is set by the service itself'],
    ['{ kind: http, url: "http://a", headers: { A: b, a: c } }', 'a: appears twice'],
    ['{ kind: http, url: "http://a", headers: [a] }', 'headers: expected a map of names and values'],
    ['http', 'runner: expected a map such as { kind: http, url: … }'],
  ])('with the runner %s is refused with its line, and no value is shown', (runner, message) => {
    const faults = faultsOf(withRunner(runner));
    expect(faults).toEqual([`models.yaml line 3: ${message}`]);
    expect(faults.join()).not.toContain('hush');
  });

  it('may use the health check of a preset, change it, replace it or switch it off', () => {
    const check = (options: string): unknown =>
      parse(withRunner(`{ kind: http, url: "http://a/x", ${options} }`))[0]!.runner.healthCheck;
    expect(check('preset: llama.cpp')).toMatchObject({ path: '/health', everyMs: 5_000 });
    expect(check('preset: tgi, health: { every: 2 }')).toMatchObject({ path: '/health', everyMs: 2_000 });
    expect(check('health: { url: "/up?deep=1" }')).toMatchObject({ path: '/up?deep=1', everyMs: 5_000 });
    expect(check('preset: tgi, health: off')).toBeUndefined();
    expect(check('busy: [409]')).toBeUndefined();
  });

  it('names the line within a schema', () => {
    const wrongType =
      'input_schema:\n      type: object\n      properties:\n        a:\n          type: strng';
    expect(faultsOf(withOptions(wrongType))[0]).toMatch(
      /^models\.yaml line 8: input_schema: \/properties\/a\/type must be/,
    );
    const wrongWord =
      'input_schema:\n      type: object\n      properties:\n        a:\n          minimun: 3';
    expect(faultsOf(withOptions(wrongWord))[0]).toMatch(/^models\.yaml line 8: input_schema: .*minimun/);
    const remote =
      'input_schema:\n      type: object\n      allOf:\n        - $ref: http://127.0.0.1:1/a.json';
    expect(faultsOf(withOptions(remote))[0]).toMatch(
      /^models\.yaml line 7: input_schema: .*does not exist in the schema/,
    );
  });

  it('may retain payloads at most as long as their requests', () => {
    expect(faultsOf(withOptions('retention: 1d\n    retention_payload: 2d'))).toEqual([
      'models.yaml line 5: retention_payload: expected at most the duration of "retention"',
    ]);
  });

  it('names every fault in one message, in the order of the lines', () => {
    const text = [
      'models:',
      '  - id: requests/a',
      '    runner: { kind: http, url: nowhere }',
      '  - id: b',
      '    runner: { kind: demo, demo: echo }',
      '  - id: b',
      '    runner: { kind: demo, demo: echo }',
      '    atempts: 2',
      '  - { id: b/openapi.json, runner: { kind: demo, demo: echo } }',
      '  - just text',
      'version: 1',
    ].join('\n');
    expect(faultsOf(text).map((fault) => /line (\d+): (.{12})/.exec(fault)!.slice(1))).toEqual([
      ['2', 'id: expected'],
      ['3', 'url: expecte'],
      ['6', 'the id "b" a'],
      ['8', 'unknown opti'],
      ['9', 'id: expected'],
      ['10', 'expected a m'],
      ['11', 'unknown opti'],
    ]);
  });

  it.each([
    ['', 'models.yaml: expected a map with "models"'],
    ['- a', 'models.yaml line 1: expected a map with "models"'],
    ['models: []', 'models.yaml line 1: models: expected a list of 1 to 1000 models'],
    ['model: []', 'models.yaml line 1: unknown option "model", did you mean "models"?'],
    ['models:\n  - { id: a', 'models.yaml line '],
    ['models:\n\t- id: a', 'models.yaml line 2: '],
  ])('of %j is refused', (text, beginning) => {
    expect(faultsOf(text)[0]).toContain(beginning);
  });

  it('is refused if its YAML aliases expand too much', () => {
    const levels = Array.from(
      { length: 12 },
      (_, n) => `l${n + 1}: &l${n + 1} [${Array(9).fill(`*l${n}`).join()}]`,
    );
    const bomb = `input_schema: { l0: &l0 [a], ${levels.join(', ')} }`;
    expect(faultsOf(withOptions(bomb))[0]).toMatch(/line 4: input_schema: Excessive alias count/);
  });

  it('that is missing or unreadable is named in the error', () => {
    const read = (path: string) => () => new ModelsFile(path, {}, runnerKinds).read();
    expect(read('nowhere.yaml')).toThrow('nowhere.yaml: there is no such file');
    expect(read('src')).toThrow('src: it cannot be read');
  });
});

describe('groups of models', () => {
  const grouped = (groups: string, ...models: string[]): string =>
    `groups:\n  ${groups}\nmodels:\n${models.map((model) => `  - { ${model} }\n`).join('')}`;
  const echo = 'runner: { kind: demo, demo: echo }';

  it('share slots, and a model may use all of them unless its concurrency is lower', () => {
    const models = parse(
      grouped(
        'gpu-0: { concurrency: 2, stay: 30s }',
        `id: a, group: gpu-0, ${echo}`,
        `id: b, group: gpu-0, concurrency: 1, ${echo}`,
        `id: c, ${echo}`,
      ),
    );
    const group = { id: 'gpu-0', concurrency: 2, stayMs: 30_000 };
    expect(models.map(({ group: own, concurrency }) => [own, concurrency])).toEqual([
      [group, 2],
      [group, 1],
      [null, 1],
    ]);
  });

  it('have one slot and no stay by default, also with workers', () => {
    const [model] = parse(grouped('gpu-0: {}', 'id: a, group: gpu-0, runner: { kind: worker }'));
    expect(model).toMatchObject({ concurrency: 1, group: { concurrency: 1, stayMs: 0 } });
  });

  it.each([
    [
      'no such group',
      grouped('gpu-0: {}', `id: a, group: gpu-9, ${echo}`),
      'line 4: group: there is no such group, did you mean "gpu-0"?',
    ],
    [
      'no groups at all',
      `models:\n  - { id: a, group: vram, ${echo} }\n`,
      'line 2: group: there is no such group; define it under "groups", as in groups: { gpu-0: { concurrency: 1, stay: 30s } }',
    ],
    [
      'runners of two kinds',
      grouped('gpu-0: {}', `id: a, group: gpu-0, ${echo}`, 'id: b, group: gpu-0, runner: { kind: worker }'),
      'line 5: group: this runner is of kind worker, but a in the same group is of kind demo; give each kind a group of its own',
    ],
    [
      'more than the group may',
      grouped('gpu-0: { concurrency: 2 }', `id: a, group: gpu-0, concurrency: 3, ${echo}`),
      'line 4: concurrency: expected at most 2, the concurrency of its group',
    ],
    [
      'a stay of a model',
      withOptions('stay: 30s'),
      'line 4: stay: it is an option of a group; write it there: groups: { gpu-0: { stay: 30s } }',
    ],
    [
      'a wrong name',
      grouped('"gpu 0": {}', `id: a, ${echo}`),
      'line 2: gpu 0: expected a name of up to 64 letters, digits, ".", "_" and "-", beginning with a letter or digit',
    ],
    [
      'a group without options',
      grouped('gpu-0: 1', `id: a, ${echo}`),
      'line 2: gpu-0: expected the options of a group, such as { concurrency: 1, stay: 30s }',
    ],
    [
      'an unknown option of a group',
      grouped('gpu-0: { concurency: 1 }', `id: a, ${echo}`),
      'line 2: unknown option "concurency", did you mean "concurrency"?',
    ],
    [
      'a list of groups',
      grouped('- gpu-0', `id: a, ${echo}`),
      'line 2: groups: expected a map such as { gpu-0: { concurrency: 1, stay: 30s } }',
    ],
  ])('with %s are a fault', (_, text, fault) => expect(faultsOf(text)).toEqual([`models.yaml ${fault}`]));
});

describe('reserved slots', () => {
  it('default to zero, for high and for normal priority', () => {
    expect(parse(withOptions('concurrency: 4'))[0]).toMatchObject({ reserve: { high: 0, normal: 0 } });
    const [model] = parse(withOptions('concurrency: 4\n    reserve: { high: 2 }'));
    expect(model).toMatchObject({ reserve: { high: 2, normal: 0 } });
  });

  it.each([
    [
      'an unknown priority',
      'reserve: { urgent: 1 }',
      'expected the number of slots for each priority, such as { high: 1 }; low needs none; "urgent" is neither high nor normal',
    ],
    ['no number', 'reserve: { high: many }', 'high: expected a whole number from 1 to 10000'],
    [
      'no map',
      'reserve: 1',
      'expected the number of slots for each priority, such as { high: 1 }; low needs none',
    ],
    [
      'all slots',
      'reserve: { high: 1 }',
      'expected fewer slots in all than its concurrency of 1, or no other request could start',
    ],
  ])('with %s are a fault', (_, options, fault) =>
    expect(faultsOf(withOptions(options))).toEqual([`models.yaml line 4: reserve: ${fault}`]),
  );

  it('need a concurrency where workers run the model', () => {
    const faults = faultsOf('models:\n  - { id: a, reserve: { high: 1 }, runner: { kind: worker } }\n');
    expect(faults).toEqual([
      'models.yaml line 2: reserve: a model of workers has slots only with "concurrency"; add it',
    ]);
  });
});
