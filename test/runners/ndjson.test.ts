import { Config } from '../../src/config/config.js';
import { HttpRunner } from '../../src/runners/http-runner.js';
import { Tracing } from '../../src/tracing/tracing.js';
import { ModelServer, ndjson } from '../support/model-server.js';
import { failureOf, noFiles, testRun, type TestRun, trickle, threads } from '../support/test-run.js';
import { until } from '../support/until.js';

const maxOutputBytes = 50_000;
const runner = new HttpRunner(
  Object.assign(new Config(), { maxOutputBytes }),
  new Tracing(),
  noFiles,
  threads,
);
let server: ModelServer;

beforeEach(async () => (server = await new ModelServer().start()));
afterEach(() => server.stop());

function ndjsonRun(body: string | Buffer, chunkBytes = 1_000_000): TestRun {
  server.respond = trickle(body, chunkBytes, 'application/x-ndjson');
  return testRun({ kind: 'http', url: server.url, headers: {} });
}

const output = '{"type":"output","output":1}';

describe('an NDJSON answer', () => {
  it.each([1, 2, 3, 7, 64, 1_000])('means the same in chunks of %i bytes', async (chunkBytes) => {
    const run = ndjsonRun(
      '{"type":"log","level":"INFO","message":"načítám 🐈"}\r\n\r\n' +
        '{"type":"log","level":"error","message":"b"}\n' +
        '{"type":"output","output":{"seed":12345678901234567890}}',
      chunkBytes,
    );
    expect(await runner.run(run)).toBe('{"seed":12345678901234567890}');
    expect(run.lines).toEqual([
      { level: 'INFO', message: 'načítám 🐈' },
      { level: 'ERROR', message: 'b' },
    ]);
  });

  it('has its log lines passed on before it ends', async () => {
    server.respond = ({ response }) => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson' });
      response.write('{"type":"log","message":"halfway"}\n');
    };
    const run = testRun({ kind: 'http', url: server.url, headers: {} });
    const output = runner.run(run);
    await until(() => run.lines.length === 1, { message: 'the line arrives before the answer ends' });
    server.calls[0]!.response.end('{"type":"output","output":1}\n');
    expect(await output).toBe('1');
  });

  it.each([
    ['{"output":[1, 2],"type":"output"}', '[1, 2]'],
    ['{"type":"output","output":"a\\"}{,:\\\\"}', '"a\\"}{,:\\\\"'],
    ['{"type":"output","more":{"output":1},"output":null}', 'null'],
    ['{"type":"output","output":1,"output":{"a":[{}]}}', '{"a":[{}]}'],
    ['{"type":"output","\\u006futput": 1.0 , "z":"output"}', '1.0'],
  ])('has the output of %s as it was written', async (line, output) => {
    expect(await runner.run(ndjsonRun(line))).toBe(output);
  });

  it('is over with its output line, whatever follows', async () => {
    const late = '{"type":"error","message":"late"}\n{"type":"output","output":2}';
    expect(await runner.run(ndjsonRun(`${output}\n${late}`))).toBe('1');
  });

  it('accepts the usual names of levels, and treats others as INFO', async () => {
    const levels = ['debug', 'Warning', 'CRITICAL', 'constructor', undefined, 7];
    const lines = levels.map((level) => ({ type: 'log', level, message: 'a' }));
    const run = ndjsonRun(ndjson(lines) + output);
    await runner.run(run);
    expect(run.lines.map(({ level }) => level)).toEqual(['DEBUG', 'WARN', 'ERROR', 'INFO', 'INFO', 'INFO']);
  });

  it('has messages converted that are not text or cannot be stored', async () => {
    const run = ndjsonRun(
      '{"type":"log","message":{"step":3}}\n{"type":"log"}\n{"type":"log","message":"a\\u0000\\ud800"}\n' +
        `{"type":"log","message":"${'x'.repeat(10_000)}"}\n{"type":"output","output":1}`,
    );
    await runner.run(run);
    const messages = run.lines.map(({ message }) => message);
    expect(messages.slice(0, 3)).toEqual(['{"step":3}', 'null', 'a\ufffd\ufffd']);
    expect(messages[3]).toHaveLength(8_193);
  });

  it.each([
    ['{"type":"error","message":"no such style","retryable":false}', 'no such style', false],
    ['{"type":"error","message":"out of memory","retryable":true}', 'out of memory', true],
    ['{"type":"error"}', 'The model failed.', false],
  ])('fails with the message and the retry of %s', async (line, message, retryable) => {
    const failure = await failureOf(runner, ndjsonRun(`{"type":"log","message":"a"}\n${line}\n`));
    expect(failure.message).toBe(message);
    expect(failure.options).toEqual({ code: 'model_error', retryable });
  });

  it.each([
    ['', true, 'ended without an output line'],
    ['{"type":"log","message":"a"}\n', true, 'ended without an output line'],
    ['not json\n', false, 'a line that is not a JSON object'],
    ['[]\n', false, 'a line that is not a JSON object'],
    ['{"message":"a"}\n', false, 'a line that is not a JSON object'],
    ['{"type":"output"}\n', false, 'an output line without "output"'],
    ['{"type":"delta"}\n', false, 'a delta line without "delta"'],
    [`{"type":"delta","delta":"${'x'.repeat(65_536)}"}\n`, false, 'is larger than 50000 bytes'],
    [
      `{"type":"delta","delta":"${'x'.repeat(30_000)}"}\n`.repeat(2),
      false,
      'output is larger than 50000 bytes',
    ],
    ['{"type":"output","output":{"a":', false, 'a line that is not a JSON object'],
  ])('%j is a failure of the model', async (body, retryable, message) => {
    const failure = await failureOf(runner, ndjsonRun(body));
    expect(failure.options).toEqual({ code: 'model_error', retryable });
    expect(failure.message).toContain(message);
  });

  it('has its progress and its deltas passed on as they were written', async () => {
    const run = ndjsonRun(
      '{"type":"progress","value":0.25,"message":"half a half"}\n{"type":"progress","value":1}\n' +
        '{"type":"delta","delta":"a\\n"}\n{"type":"delta","delta":{"seed":12345678901234567890}}\n' +
        '{"type":"delta","delta":null}\n{"type":"output","output":1}',
      7,
    );
    expect(await runner.run(run)).toBe('1');
    expect(run.steps).toEqual([
      [0.25, 'half a half'],
      [1, undefined],
    ]);
    expect(run.deltas).toEqual(['"a\\n"', '{"seed":12345678901234567890}', 'null']);
  });

  it('has its usage passed on, with a warning for an invalid one', async () => {
    const lines = ['{"tokens":3}', '{"tokens":"3"}', '{"tokens":5}'].map(
      (usage) => `{"type":"usage","usage":${usage}}`,
    );
    const run = ndjsonRun([...lines, '{"type":"output","output":1}'].join('\n'));
    expect(await runner.run(run)).toBe('1');
    expect(run.usages).toEqual([{ tokens: 3 }, { tokens: 5 }]);
    expect(run.lines).toMatchObject([{ level: 'WARN' }]);
  });

  it('needs no output line after parts', async () => {
    expect(await runner.run(ndjsonRun('{"type":"delta","delta":"a"}\n'))).toBeUndefined();
  });

  it('needs an output line if only the connection marks its end', async () => {
    const answer = 'HTTP/1.0 200 OK\r\ncontent-type: application/x-ndjson\r\n\r\n';
    const part = '{"type":"delta","delta":"a"}\n';
    server.respond = ({ socket }) => socket.end(answer + part);
    const failure = await failureOf(runner, testRun({ kind: 'http', url: server.url, headers: {} }));
    expect(failure.message).toMatch(
      'ended with its connection, so it may be incomplete: send Content-Length',
    );
    expect(failure.options.retryable).toBe(true);
    server.respond = ({ socket }) => socket.end(answer + part + output);
    expect(await runner.run(testRun({ kind: 'http', url: server.url, headers: {} }))).toBe('1');
  });

  it('is refused if one delta is larger than 64 KiB', async () => {
    const roomy = new HttpRunner(
      Object.assign(new Config(), { maxOutputBytes: 1_000_000 }),
      new Tracing(),
      noFiles,
      threads,
    );
    const failure = await failureOf(roomy, ndjsonRun(`{"type":"delta","delta":"${'x'.repeat(65_536)}"}\n`));
    expect(failure.message).toBe("The model's answer contains a delta larger than 65536 bytes.");
  });

  it.each(['{}', '{"value":"0.5"}', '{"value":1.5}', '{"value":-0.1}', '{"value":null}'])(
    'causes one warning when progress is %s',
    async (said) => {
      const text = `{"type":"progress",${said.slice(1)}\n`.replace(',}', '}');
      const run = ndjsonRun(text.repeat(3) + output);
      expect(await runner.run(run)).toBe('1');
      expect(run.steps).toEqual([]);
      expect(run.lines).toEqual([
        {
          level: 'WARN',
          message: expect.stringMatching(/^Progress lines .* number from 0 to 1 .* ignored/),
        },
      ]);
    },
  );

  it('causes one warning for each unknown type, and at most ten', async () => {
    const types = ['unheard', 'unheard', ...Array.from({ length: 30 }, (_, n) => `t${n}`)];
    const run = ndjsonRun(ndjson(types.map((type) => ({ type }))) + output);
    expect(await runner.run(run)).toBe('1');
    expect(run.lines).toHaveLength(10);
    expect(run.lines[0]).toEqual({
      level: 'WARN',
      message: 'Lines of the unknown type "unheard" in the model\'s answer are ignored.',
    });
  });

  it('may be larger than the output limit, but a single line may not', async () => {
    const log = ndjson([{ type: 'log', message: 'x'.repeat(1_000) }]);
    expect(await runner.run(ndjsonRun(log.repeat(200) + output))).toBe('1');
    for (const ending of ['', '\n']) {
      const long = `{"type":"output","output":"${'x'.repeat(maxOutputBytes)}"}${ending}`;
      const failure = await failureOf(runner, ndjsonRun(long));
      expect(failure.message).toContain(`larger than ${maxOutputBytes} bytes`);
    }
  });

  it('that is not UTF-8 is final', async () => {
    const body = Buffer.from('{"type":"output","output":"\xe9"}\n', 'latin1');
    expect((await failureOf(runner, ndjsonRun(body))).message).toContain('not UTF-8');
  });
});
