import { once } from 'node:events';
import { createServer, get, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sendLines } from './send-lines.js';

const watch = { bind: (): void => undefined };
const file = { contentType: 'application/x-ndjson', fileName: 'a.jsonl' };

test('a file is closed when its client disconnects before the first bytes are read', async () => {
  let isClosed = false;
  const sent = new Promise<void>((resolve) => {
    const server = createServer((_, response) => {
      server.close();
      resolve(sendLines(watch, response, file, linesAfter(response)));
    });
    server.listen(0, '127.0.0.1', () => {
      const call = get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' });
      call.on('error', () => undefined);
      server.once('request', () => call.destroy());
    });
  });
  async function* linesAfter(response: ServerResponse): AsyncGenerator<Buffer> {
    try {
      await once(response, 'close');
      yield Buffer.from('{}\n');
      yield Buffer.from('{}\n');
    } finally {
      isClosed = true;
    }
  }
  await sent;
  expect(isClosed).toBe(true);
});

test('a HEAD is answered as a GET is, and reads no line', async () => {
  let reads = 0;
  async function* lines(): AsyncGenerator<Buffer> {
    reads += 1;
    yield await Promise.resolve(Buffer.from('{}\n'));
  }
  const server = createServer((_, response) => void sendLines(watch, response, file, lines()));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const answerTo = async (method: string): Promise<IncomingMessage> => {
    const call = request({ port, host: '127.0.0.1', method, agent: false }).end();
    const [answer] = (await once(call, 'response')) as [IncomingMessage];
    await once(answer.resume(), 'end');
    return answer;
  };
  const fields = ({ headers, statusCode }: IncomingMessage): unknown[] => [
    statusCode,
    headers['content-type'],
    headers['content-disposition'],
  ];
  try {
    const head = await answerTo('HEAD');
    expect(reads).toBe(0);
    expect(fields(head)).toEqual(fields(await answerTo('GET')));
    expect(reads).toBe(1);
  } finally {
    server.close();
  }
});
