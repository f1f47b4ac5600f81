import { once } from 'node:events';
import { createHash, randomUUID } from 'node:crypto';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { Config } from '../../src/config/config.js';
import { RunFailure } from '../../src/queue/runs/runner.js';
import { HttpRunner } from '../../src/runners/http-runner.js';
import { presetNames } from '../../src/runners/mapping/mapping.js';
import { Tracing } from '../../src/tracing/tracing.js';
import { recorded } from '../support/recorded-streams.js';
import { png } from '../support/servers/openai.js';
import { filesBy, testRun, threads } from '../support/test-run.js';

// Every preset, with each of its answers cut, delayed, doubled, compressed, called by a wrong type, endless, and with
// other things between its parts: there is one outcome, and an output only if it is the right one.

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

const files = filesBy((bytes) => `file:${sha256(bytes)}`);

const maxOutputBytes = 200_000;
const config = Object.assign(new Config(), { maxOutputBytes });
const runner = new HttpRunner(config, new Tracing(), files, threads);

interface Reply {
  type: string;
  body: Buffer;
}

interface Exchange {
  name: string;
  preset: string;
  path: string;
  /** The answers by method and path, without ids; each is repeated. */
  replies: Readonly<Record<string, Reply>>;
  output: unknown;
}

const json = (value: unknown): Reply => ({
  type: 'application/json',
  body: Buffer.from(JSON.stringify(value)),
});

const file = { type: 'image/png', body: png };
const fileUrl = `file:${sha256(png)}`;
const dataUrl = `data:image/png;base64,${png.toString('base64')}`;
const chatUrl = 'http://gpu:8000/v1/chat/completions';

const paths: Record<string, string> = {
  'llama.cpp': '/completion',
  tgi: '/generate_stream',
  ollama: '/api/chat',
  cog: '/predictions',
};

const streams = Object.entries(recorded).map(
  ([name, { preset, url = chatUrl, kind, stream, answer }]): Exchange => {
    const path = paths[preset] ?? new URL(url).pathname;
    const type = kind === 'lines' ? 'application/x-ndjson' : 'text/event-stream';
    return { name, preset, path, replies: { [path]: { type, body: Buffer.from(stream) } }, output: answer };
  },
);

/** What servers answer without a stream. */
const wholes: readonly Exchange[] = [
  ...streams
    .filter(({ preset }) => preset !== 'cog')
    .map((one) => ({
      ...one,
      name: `${one.name}, without a stream`,
      replies: { [one.path]: json(one.output) },
    })),
  {
    name: 'embeddings',
    preset: 'openai',
    path: '/v1/embeddings',
    replies: { '/v1/embeddings': json({ data: [{ embedding: [1, 0.5] }], usage: { total_tokens: 4 } }) },
    output: { data: [{ embedding: [1, 0.5] }], usage: { total_tokens: 4 } },
  },
  {
    name: 'a picture of OpenAI',
    preset: 'openai',
    path: '/v1/images/generations',
    replies: {
      '/v1/images/generations': json({ data: [{ b64_json: png.toString('base64'), revised_prompt: 'a' }] }),
    },
    output: { data: [{ revised_prompt: 'a', url: fileUrl }] },
  },
  {
    name: 'speech',
    preset: 'openai',
    path: '/v1/audio/speech',
    replies: { '/v1/audio/speech': file },
    output: { file: { url: fileUrl } },
  },
  {
    name: 'a prediction of Cog, without a stream',
    preset: 'cog',
    path: '/predictions',
    replies: { '/predictions': json({ status: 'succeeded', output: [dataUrl, 'a'], metrics: { steps: 4 } }) },
    output: [fileUrl, 'a'],
  },
  {
    name: 'a workflow of ComfyUI',
    preset: 'comfyui',
    path: '/comfy',
    replies: {
      '/comfy/prompt': json({ prompt_id: '1', number: 1, node_errors: {} }),
      '/comfy/api/jobs': json({
        status: 'completed',
        outputs: { 9: { images: [{ filename: 'a.png', subfolder: '', type: 'output' }], text: ['a'] } },
      }),
      '/comfy/view': file,
    },
    output: {
      9: { images: [{ filename: 'a.png', subfolder: '', type: 'output', url: fileUrl }], text: ['a'] },
    },
  },
  {
    name: 'a task of BentoML',
    preset: 'bentoml',
    path: '/sum',
    replies: {
      '/sum/submit': json({ task_id: 't1', status: 'in_progress' }),
      '/sum/status': json({ task_id: 't1', status: 'success' }),
      '/sum/get': json({ summary: 'a' }),
    },
    output: { summary: 'a' },
  },
  {
    name: 'an event of Gradio',
    preset: 'gradio',
    path: '/gradio_api/call/predict',
    replies: {
      '/gradio_api/call/predict': json({ event_id: 'e1' }),
      '/gradio_api/call/predict/e1': {
        type: 'text/event-stream',
        body: Buffer.from(
          'event: heartbeat\ndata: null\n\nevent: generating\ndata: ["a"]\n\nevent: complete\ndata: ["a",7]\n\n',
        ),
      },
    },
    output: ['a', 7],
  },
];

const exchanges = [...streams, ...wholes];

/** Writes an answer to a call. `times`: calls of its place so far. */
type Write = (reply: Reply, socket: Socket, times: number) => Promise<void> | void;

const headOf = (type: string, more: string): string =>
  `HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: ${type}\r\n${more}\r\n\r\n`;

const plainly: Write = ({ type, body }, socket) => {
  socket.write(headOf(type, `content-length: ${body.length}`));
  socket.end(body);
};

/** What the server does for a run, by the id of its request. `times`: calls of each place so far. */
const plays = new Map<
  string,
  { exchange: Exchange; place: string; write: Write; times: Map<string, number> }
>();

/** A server of raw answers. It answers a call once its head has come. */
const server = createServer((socket) => {
  socket.on('error', () => undefined);
  let received = '';
  socket.on('data', (bytes: Buffer) => {
    const isFirst = !received.includes('\r\n\r\n');
    received += bytes.toString('latin1');
    if (!isFirst || !received.includes('\r\n\r\n')) return;
    const { pathname } = new URL(received.split(' ', 2)[1]!, 'http://server');
    const { exchange, place, write, times } = plays.get(/^x-request-id: (.*)\r$/im.exec(received)![1]!)!;
    const [found] = Object.keys(exchange.replies)
      .filter((path) => pathname.startsWith(path))
      .sort((one, other) => other.length - one.length);
    if (found === undefined) return void socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n');
    const count = (times.get(found) ?? 0) + 1;
    times.set(found, count);
    void (found === place ? write : plainly)(exchange.replies[found]!, socket, count);
  });
});

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => server.close());

const runners = new Map<Exchange, object>();

/** Returns the same options for all runs of an exchange, because the runner compiles a mapping once for its options. */
function runnerOf(exchange: Exchange): object {
  const { port } = server.address() as AddressInfo;
  const { preset, path } = exchange;
  const follow = ['comfyui', 'bentoml'].includes(preset) ? { follow: { every: '1ms' } } : {};
  const options = { kind: 'http', preset, url: `http://127.0.0.1:${port}${path}`, headers: {}, ...follow };
  const known = runners.get(exchange) ?? options;
  runners.set(exchange, known);
  return known;
}

/** Returns the output as a JSON value, or the failure, of a run whose answer from `place` is written in another way. */
async function outcome(exchange: Exchange, place: string, write: Write): Promise<unknown> {
  const run = Object.assign(testRun(runnerOf(exchange), '{"prompt":"a"}'), { requestId: randomUUID() });
  plays.set(run.requestId, { exchange, place, write, times: new Map() });
  try {
    return JSON.parse(String(await runner.run(run)));
  } catch (error) {
    if (error instanceof RunFailure) return error;
    throw error;
  }
}

const failure = (message: RegExp, options: object = {}): unknown =>
  expect.objectContaining({
    message: expect.stringMatching(message) as string,
    options: expect.objectContaining(options) as object,
  });

/** The exchanges, each with one of its places. */
const places = exchanges.flatMap((exchange) =>
  Object.keys(exchange.replies).map((place): [string, Exchange, string] => [
    `${exchange.name} (${exchange.preset}${place})`,
    exchange,
    place,
  ]),
);

const isOf = ({ replies }: Exchange, place: string, type: string): boolean => replies[place]!.type === type;
const isFirst = ({ replies }: Exchange, place: string): boolean => Object.keys(replies)[0] === place;
const isStream = (exchange: Exchange, place: string): boolean =>
  isOf(exchange, place, 'text/event-stream') || isOf(exchange, place, 'application/x-ndjson');

const endless: Write = async ({ type, body: bytes }, socket) => {
  socket.write(headOf(type, 'transfer-encoding: chunked'));
  const more = Buffer.alloc(10_000, 0x20);
  more[9_999] = 0x0a;
  for (let part = bytes; socket.writable && !socket.destroyed; part = more) {
    const chunk = Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')]);
    await new Promise((resolve) => socket.write(chunk, resolve));
  }
};

test('every preset is tried', () => {
  expect([...new Set(exchanges.map(({ preset }) => preset))].sort()).toEqual(presetNames);
});

describe.each(places)('%s', (_, exchange, place) => {
  const { output } = exchange;
  const { body } = exchange.replies[place]!;
  const tried = (write: Write): Promise<unknown> => outcome(exchange, place, write);
  const asFirst = isFirst(exchange, place);

  test('as it is', async () => {
    expect(await tried(plainly)).toEqual(output);
  });

  test('delayed, byte by byte in chunks', async () => {
    const slowly: Write = async ({ type, body: bytes }, socket) => {
      socket.setNoDelay(true);
      socket.write(headOf(type, 'transfer-encoding: chunked'));
      for (const byte of bytes.subarray(0, 200)) {
        socket.write(Buffer.concat([Buffer.from('1\r\n'), Buffer.from([byte]), Buffer.from('\r\n')]));
        await new Promise((resolve) => setImmediate(resolve));
      }
      const rest = bytes.subarray(200);
      if (rest.length > 0)
        socket.write(
          Buffer.concat([Buffer.from(`${rest.length.toString(16)}\r\n`), rest, Buffer.from('\r\n')]),
        );
      socket.end('0\r\n\r\n');
    };
    expect(await tried(slowly)).toEqual(output);
  });

  test.each([0, 1, 0.3, 0.5, 0.9])('cut at %s', async (part) => {
    const length = part === 1 ? body.length - 1 : Math.floor(body.length * part);
    const cut: Write = ({ type, body: bytes }, socket) => {
      socket.write(headOf(type, `content-length: ${bytes.length}`));
      socket.end(bytes.subarray(0, length));
    };
    const broken = failure(/^The connection to the model broke|without its end mark/, {
      code: 'model_unavailable',
      retryable: true,
      outage: 'costly',
    });
    expect(await tried(cut)).toEqual(broken);
    // A call that follows a run is repeated, unless the run ends with the call.
    const once: Write = (reply, socket, count) => (count > 1 ? plainly : cut)(reply, socket, count);
    if (!asFirst && exchange.preset !== 'gradio') expect(await tried(once)).toEqual(output);
  });

  test('doubled', async () => {
    const twice: Write = (reply, socket, count) =>
      plainly({ ...reply, body: Buffer.concat([reply.body, reply.body]) }, socket, count);
    const found = await tried(twice);
    // The id of a run of ComfyUI is this service's own, so the first answer need not be read.
    const needsNothing = exchange.preset === 'comfyui' && asFirst;
    if (isStream(exchange, place) || needsNothing) expect(found).toEqual(output);
    else if (isOf(exchange, place, 'image/png')) expect(found).not.toBeInstanceOf(RunFailure);
    else expect(found).toEqual(failure(/JSON|no text or number at/, { retryable: false }));
  });

  test('compressed', async () => {
    const compressed: Write = ({ type, body: bytes }, socket) => {
      const zipped = gzipSync(bytes);
      socket.write(headOf(type, `content-encoding: gzip\r\ncontent-length: ${zipped.length}`));
      socket.end(zipped);
    };
    expect(await tried(compressed)).toEqual(
      failure(/it is compressed, which was not requested/, { retryable: false }),
    );
  });

  test.each(['application/json', 'text/plain', 'text/event-stream', 'application/x-ndjson', 'text/html', ''])(
    'with the content type %j, the output is correct or refused',
    async (type) => {
      const found = await tried((reply, socket, count) => plainly({ ...reply, type }, socket, count));
      if (!(found instanceof RunFailure)) expect(found).toEqual(output);
    },
  );

  test('as text/plain, with the same output', async () => {
    if (isOf(exchange, place, 'image/png')) return;
    expect(
      await tried((reply, socket, count) => plainly({ ...reply, type: 'text/plain' }, socket, count)),
    ).toEqual(output);
  });

  test('endless', async () => {
    if (isOf(exchange, place, 'image/png') || isStream(exchange, place)) return;
    const tooLarge = failure(/is larger than 200000 bytes/, { retryable: false });
    expect(await tried(endless)).toEqual(tooLarge);
  });

  test('with comments, other fields and blank lines between its parts', async () => {
    if (!isStream(exchange, place)) return;
    const isLines = isOf(exchange, place, 'application/x-ndjson');
    const between = isLines ? '\n \n' : '\n\n: a comment\n\nretry: 10\nid: 7\nunknown: field\n\n';
    const mixed: Write = (reply, socket, count) => {
      const text = reply.body.toString().replaceAll(isLines ? '\n' : /\r?\n\r?\n/g, between);
      return plainly({ ...reply, body: Buffer.from(text) }, socket, count);
    };
    expect(await tried(mixed)).toEqual(output);
  });
});

/** Each takes the two seconds that a stream may go on after its end mark. */
test('each stream that never ends after its end mark is complete', async () => {
  const tried = places.map(async ([name, exchange, place]) => {
    if (isStream(exchange, place))
      expect([name, await outcome(exchange, place, endless)]).toEqual([name, exchange.output]);
  });
  await Promise.all(tried);
});
