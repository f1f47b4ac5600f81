import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { Allowances } from '../../src/allowances/allowances.js';
import { Database } from '../../src/database/database.js';
import { HttpConnections } from '../../src/http/http-connections.js';
import { shippedPace } from '../../src/http/progress.js';
import { startTestService, type TestService, until } from '../support/index.js';
import { AdminCalls } from '../support/admin-calls.js';
import { keyHeader, verdict } from '../support/queue-calls.js';

/** More than a connection on this machine buffers. */
const largeBytes = 16 * 1024 ** 2;
let service: TestService;
let allowances: Allowances;
let connections: HttpConnections;
const open: Socket[] = [];

beforeAll(async () => {
  service = await startTestService({
    limits: '100000/s',
    config: { maxCallerBytes: 40 * 1024 ** 2, maxBodyBytes: largeBytes + 1024, maxCallerStreams: 3 },
  });
  allowances = service.app.get(Allowances);
  connections = service.app.get(HttpConnections);
});
afterEach(async () => {
  for (const socket of open.splice(0)) socket.destroy();
  Object.assign(connections.pace, shippedPace, { checkMs: 2_000 });
  await until(() => allowances.inUse('bytes') === 0 && allowances.inUse('streams') === 0, {
    message: 'nothing is held once all connections are closed',
    explain: () => [allowances.inUse('bytes'), allowances.inUse('streams')],
  });
});
afterAll(() => service.stop());

function connectTo(): Socket {
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  open.push(socket);
  return socket;
}

/** Sends the head of a submission and `sent` bytes of its body. */
function stalled(length: number, { sent = 0, fields = '' } = {}): Socket {
  const socket = connectTo();
  socket.write(
    `POST /v1/queue/demo/text/echo HTTP/1.1\r\nHost: a\r\nAuthorization: Key ${service.key}\r\n` +
      `${fields}Content-Length: ${length}\r\n\r\n${'x'.repeat(sent)}`,
  );
  return socket;
}

async function textOf(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await once(socket, 'close');
  return text;
}

const echo = (text: string): Promise<Response> => service.submit('demo/text/echo', { text });

const echoGzipped = (text: string): Promise<Response> =>
  fetch(`${service.url}/v1/queue/demo/text/echo`, {
    method: 'POST',
    headers: { authorization: `Key ${service.key}`, 'content-encoding': 'gzip' },
    body: gzipSync(JSON.stringify({ text })),
  });

describe('bodies', () => {
  it('that are announced but not sent are charged, and more bodies than the caller’s allowance are refused', async () => {
    stalled(largeBytes);
    stalled(largeBytes);
    await until(() => allowances.inUse('bytes') === 2 * largeBytes);
    expect(await verdict(echo('x'.repeat(10 * 1024 ** 2)))).toEqual([429, 'caller_busy']);
    expect((await echo('small')).status).toBe(202);
  });

  it('are charged as they are inflated', async () => {
    stalled(largeBytes);
    stalled(largeBytes);
    await until(() => allowances.inUse('bytes') === 2 * largeBytes);
    const text = Array.from({ length: 300_000 }, (_, i) => (i * 7919) % 9973).join();
    expect(await verdict(echoGzipped(text.repeat(6)))).toEqual([429, 'caller_busy']);
  });

  it.each([
    ['gzip', 64 * 1024],
    ['br', 4 * 1024 ** 2],
  ])('are charged with the memory of their decoder: %s', async (encoding, bytes) => {
    stalled(100, { fields: `Content-Encoding: ${encoding}\r\n` });
    await until(() => allowances.inUse('bytes') === bytes, { explain: () => allowances.inUse('bytes') });
  });

  it('that decompress to more than a hundred times their sent size are refused', async () => {
    expect(await verdict(echoGzipped('x'.repeat(3 * 1024 ** 2)))).toEqual([413, 'too_large']);
  });

  it('that arrive too slowly are answered 408, and their connection is closed', async () => {
    Object.assign(connections.pace, { silenceMs: 50, checkMs: 10 });
    const text = await textOf(stalled(1_000, { sent: 3 }));
    expect(text).toMatch(/^HTTP\/1\.1 408 [^]*"code":"too_slow"/);
    expect(allowances.inUse('bytes')).toBe(0);
  });

  it('that arrive too slowly after their answer have their connection closed as well', async () => {
    Object.assign(connections.pace, { graceMs: 50, checkMs: 10 });
    const socket = connectTo();
    socket.write('GET /health/live HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n');
    const trickle = setInterval(() => socket.write('x'), 10);
    try {
      expect(await textOf(socket)).toMatch(/^HTTP\/1\.1 200 /);
    } finally {
      clearInterval(trickle);
    }
  });
});

describe('answers', () => {
  let id: string;
  beforeAll(async () => {
    const submitted = await service.submit('demo/text/echo', { text: 'y'.repeat(largeBytes - 100) });
    id = ((await submitted.json()) as { request_id: string }).request_id;
    await until(async () => {
      const { status } = (await (await service.get(`/v1/queue/requests/${id}/status`)).json()) as {
        status: string;
      };
      return status === 'COMPLETED';
    });
  });

  function unread(request: string): Socket {
    const socket = connectTo();
    socket.pause();
    socket.write(`GET /v1/queue/requests/${request} HTTP/1.1\r\nHost: a\r\n\r\n`);
    return socket;
  }

  it('that a client does not read are charged to the key of the request', async () => {
    unread(id);
    unread(id);
    await until(() => allowances.inUse('bytes') > 1.9 * largeBytes);
    expect(await verdict(service.get(`/v1/queue/requests/${id}`))).toEqual([429, 'caller_busy']);
    expect((await service.get(`/v1/queue/requests/${id}/status`)).status).toBe(200);
  });

  it('to HEAD are sent without a body, and the connection serves the next call', async () => {
    const socket = connectTo();
    const path = `/v1/queue/requests/${id}`;
    socket.write(
      `HEAD ${path} HTTP/1.1\r\nHost: a\r\n\r\n` +
        `GET ${path}/status HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
    );
    const [head, status, ...rest] = (await textOf(socket)).split(/(?=HTTP\/1\.1 200 )/);
    expect(head).toMatch(new RegExp(`^content-length: ${largeBytes - 100 + '{"text":""}'.length}\r$`, 'im'));
    expect(head).toMatch(/\r\n\r\n$/);
    expect(status).toContain('"status":"COMPLETED"');
    expect(rest).toEqual([]);
  });

  it('that exceed the allowance are refused without a read of the output, because its size is known', async () => {
    await (await service.get(`/v1/queue/requests/${id}`)).arrayBuffer();
    unread(id);
    unread(id);
    await until(() => allowances.inUse('bytes') > 1.9 * largeBytes);
    const database = service.app.get(Database);
    const asked: string[] = [];
    database.query = (statement, values) => {
      if (statement.name.includes('output')) asked.push(statement.name);
      return Database.prototype.query.call(database, statement, values) as Promise<never[]>;
    };
    expect(await verdict(service.get(`/v1/queue/requests/${id}`))).toEqual([429, 'caller_busy']);
    // The one read asks whether the response is small.
    expect(asked).toEqual(['read_small_output_of']);
    Reflect.deleteProperty(database, 'query');
  });

  it.each([
    ['the response', ''],
    ['the stream of the output', '/output/stream'],
  ])('that a client does not read in time are dropped with their connection: %s', async (_, path) => {
    const before = connections.closed.slow;
    Object.assign(connections.pace, { silenceMs: 50, checkMs: 10 });
    unread(`${id}${path}`);
    await until(() => connections.closed.slow > before, { message: 'the connection is closed' });
    await until(() => allowances.inUse('bytes') === 0, { message: 'nothing is held for it' });
  });
});

it('streams beyond a caller’s allowance are refused, and a stream that ends makes room', async () => {
  const waiting = await service.submit('demo/text/echo?delay=1h', { text: 'later' });
  const { request_id: id } = (await waiting.json()) as { request_id: string };
  const path = `/v1/queue/requests/${id}/status/stream`;
  const controllers = [1, 2, 3].map(() => new AbortController());
  const streams = await Promise.all(controllers.map(({ signal }) => service.get(path, { signal })));
  expect(streams.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(await verdict(service.get(path))).toEqual([429, 'caller_busy']);
  controllers[0]!.abort();
  await until(() => allowances.inUse('streams') === 2);
  const again = new AbortController();
  expect((await service.get(path, { signal: again.signal })).status).toBe(200);
  for (const controller of [...controllers, again]) controller.abort();
});

describe('streams of operators', () => {
  const admin = (): AdminCalls => new AdminCalls(service);
  const opened = async (path: string, key: string): Promise<number> => {
    const controller = new AbortController();
    opening.push(controller);
    return (await service.get(path, { signal: controller.signal, headers: keyHeader(key) })).status;
  };
  const opening: AbortController[] = [];
  afterEach(() => {
    for (const controller of opening.splice(0)) controller.abort();
  });

  it('of the overview count against the allowance too', async () => {
    const { key } = await admin().newKey({ scopes: ['observe'] });
    const open = (): Promise<number> => opened('/v1/admin/events', key);
    expect([await open(), await open(), await open(), await open()]).toEqual([200, 200, 200, 429]);
  });

  it.each(['status', 'output'])(
    'of the %s of a request count for the operator, not for its key',
    async (of) => {
      const [operator, owner] = [await admin().newKey({ scopes: ['payloads'] }), await admin().newKey()];
      const submitted = await service.submit('demo/text/echo?delay=1h', {}, keyHeader(owner.key));
      const { request_id: id } = (await submitted.json()) as { request_id: string };
      expect(await opened(`/v1/admin/requests/${id}/${of}/stream`, operator.key)).toBe(200);
      const streams = [operator, owner].map(({ id: keyId }) => allowances.usedBy(`key:${keyId}`).streams);
      expect(streams).toEqual([1, 0]);
    },
  );
});

describe('calls that are pipelined on a connection', () => {
  const ahead = (count: number): string => 'GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(count);
  const statuses = (text: string): number => text.split('HTTP/1.1 200 OK').length - 1;

  it('are answered in turn', async () => {
    const socket = connectTo();
    socket.write(ahead(9) + 'GET /health/live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    const text = await textOf(socket);
    expect(statuses(text)).toBe(10);
    expect(text.trimEnd()).toMatch(/\{[^{}]*\}$/);
  });

  it('hold one answer at a time in memory, regardless of their number', async () => {
    const socket = connectTo();
    socket.pause();
    socket.write(ahead(90));
    await until(() => allowances.inUse('bytes') > 0);
    expect(allowances.inUse('bytes')).toBeLessThan(3 * 1024 ** 2);
    expect((await service.get('/health/live')).status).toBe(200);
  });

  it('beyond a hundred that wait are not answered, and the connection closes after the earlier answers', async () => {
    const socket = connectTo();
    socket.write('GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(300));
    expect(statuses(await textOf(socket))).toBe(101);
    expect(connections.closed.pipelined).toBe(1);
  });

  it('wait behind at most 32 KiB of heads', async () => {
    const waiting = await service.submit('demo/text/echo?delay=1h', {});
    const { request_id: id } = (await waiting.json()) as { request_id: string };
    const before = connections.closed.pipelined;
    const socket = connectTo();
    socket.write(`GET /v1/queue/requests/${id}/status/stream HTTP/1.1\r\nHost: a\r\n\r\n`);
    await once(socket, 'data');
    const requests: IncomingMessage[] = [];
    service.app.getHttpServer().on('request', (request) => requests.push(request));
    socket.write(`GET /x HTTP/1.1\r\nHost: a\r\nX-Long: ${'x'.repeat(12_000)}\r\n\r\n`.repeat(4));
    await until(() => connections.closed.pipelined > before, { message: 'the connection is to be closed' });
    // Node keeps a call that is not answered until the connection closes, but its head is dropped.
    expect(requests.map(({ rawHeaders }) => rawHeaders.length)).toEqual([4, 4, 4, 0]);
  });

  it('are answered behind heads of 32 KiB once those have been answered', async () => {
    const socket = connectTo();
    const long = `GET /health/live HTTP/1.1\r\nHost: a\r\nX-Long: ${'x'.repeat(12_000)}\r\n`;
    for (let answered = 0; answered < 9; answered += 3) {
      let text = '';
      socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
      socket.write(`${long}\r\n`.repeat(3));
      await until(() => statuses(text) === 3, { message: 'three calls are answered' });
      socket.removeAllListeners('data');
    }
    socket.write(`${long}Connection: close\r\n\r\n`);
    expect(statuses(await textOf(socket))).toBe(1);
  });
});

describe('the API description', () => {
  it('is compressed for clients that accept gzip, and not sent again while it is unchanged', async () => {
    const plain = await service.get('/openapi.json', { headers: { 'accept-encoding': 'identity' } });
    expect(plain.headers.get('content-encoding')).toBeNull();
    const compressed = await service.get('/openapi.json', { headers: { 'accept-encoding': 'gzip' } });
    expect(compressed.headers.get('content-encoding')).toBe('gzip');
    expect(Number(compressed.headers.get('content-length'))).toBeLessThan(
      Number(plain.headers.get('content-length')) / 5,
    );
    expect(await compressed.text()).toBe(await plain.text());
    const etag = plain.headers.get('etag')!;
    const again = await service.get('/openapi.json', {
      headers: { 'accept-encoding': 'identity', 'if-none-match': etag },
    });
    expect(again.status).toBe(304);
  });

  it('of one model has an ETag too, and differs for another host', async () => {
    const path = '/v1/models/demo/text/echo/openapi.json';
    const headers = { authorization: `Key ${service.key}` };
    const first = await service.get(path, { headers });
    expect(await first.text()).toContain(`"url":"${service.url}"`);
    const etag = first.headers.get('etag')!;
    expect((await service.get(path, { headers: { ...headers, 'if-none-match': etag } })).status).toBe(304);
    const { port } = new URL(service.url);
    const other = await fetch(`http://localhost:${port}${path}`, { headers });
    expect(await other.text()).toContain(`"url":"http://localhost:${port}"`);
    expect(other.headers.get('etag')).not.toBe(etag);
  });
});
