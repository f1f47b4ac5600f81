import type { Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { QueueCalls } from './queue-calls.js';
import type { TestService } from './index.js';

export interface RawAnswer {
  status: number;
  fields: string;
  body: string;
  /** True if `100 Continue` came first. */
  isContinued: boolean;
}

export type Bytes = string | Buffer;

const patienceMs = 20_000;

/** Splits a text into words, taken literally. For items without spaces. */
export const words = ({ raw }: TemplateStringsArray): string[] => raw[0]!.trim().split(/\s+/);

/**
 * Sends bytes unchanged, where `fetch` would normalise them, and reads until the server closes the connection. Text is
 * sent as latin1, with one byte per character.
 */
export function send(server: Sent, ...parts: Bytes[]): Promise<RawAnswer> {
  return exchange(server, parts, (socket) => socket.resume());
}

/** Sends everything before it reads anything, as Python's urllib does. */
export function sendThenRead(server: Sent, ...parts: Bytes[]): Promise<RawAnswer> {
  return exchange(server, parts, (socket, sent) => void sent.then(() => socket.resume()));
}

interface Sent {
  app: { getHttpServer(): Server };
}

function exchange(
  { app }: Sent,
  parts: readonly Bytes[],
  read: (socket: Socket, sent: Promise<void>) => void,
): Promise<RawAnswer> {
  const { port } = app.getHttpServer().address() as AddressInfo;
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, '127.0.0.1');
    const sent = new Promise<void>((done) => {
      for (const part of parts.slice(0, -1)) socket.write(bytesOf(part));
      socket.write(bytesOf(parts.at(-1)!), () => done());
    });
    socket.setTimeout(patienceMs, () => {
      socket.destroy();
      reject(new Error('the service neither answered nor hung up'));
    });
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.pause();
    read(socket, sent);
    // The server may close the connection while the client still sends. Its earlier answer counts.
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(parse(Buffer.concat(chunks))));
  });
}

const bytesOf = (part: Bytes): Buffer => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part);

function parse(bytes: Buffer): RawAnswer {
  const end = bytes.indexOf('\r\n\r\n');
  const fields = bytes.subarray(0, end).toString('latin1');
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(fields)?.[1]);
  const rest = bytes.subarray(end + 4);
  if (status === 100) return { ...parse(rest), isContinued: true };
  return { status, fields, body: rest.toString(), isContinued: false };
}

/** Returns the head of a submission with `Connection: close` and any added fields. */
export function head(
  service: TestService,
  fields: string[] = [],
  target = '/v1/queue/demo/text/echo',
): string {
  const all = ['Host: a', `Authorization: Key ${service.key}`, 'Connection: close', ...fields];
  return `POST ${target} HTTP/1.1\r\n${all.join('\r\n')}\r\n\r\n`;
}

export function submitBody(service: TestService, body: Bytes, fields: string[] = []): Promise<RawAnswer> {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  return send(service, head(service, [`Content-Length: ${bytes.length}`, ...fields]), bytes);
}

/** What no answer may reveal: paths of the code, the language and its libraries, statements to the database. */
const internals =
  /node_modules|\.[jt]s:\d+|\bat \S+ \(|\/src\/|\/dist\/|(?:Type|Range|Syntax|Reference|Domain|Query)Error|\b(?:SELECT|INSERT|UPDATE|DELETE) \S+ |queue_entry|request_pkey|postgres|typeorm|nestjs|express/i;

/** Expects a refusal by the contract. `sent` is text of the caller that the answer may repeat. */
export function expectRefusal(
  answer: RawAnswer,
  status: number | number[],
  code: string | string[],
  sent = '',
): void {
  const allowed = [status].flat();
  expect({ ...answer, ok: allowed.includes(answer.status) }).toMatchObject({ ok: true });
  expect(answer.fields).toMatch(/^content-type: application\/problem\+json\r?$/im);
  expect(answer.fields).toMatch(/^x-request-id: \S+\r?$/im);
  const problem = JSON.parse(answer.body) as Record<string, unknown>;
  expect([code].flat()).toContain(problem['code']);
  expect(problem).toMatchObject({
    title: expect.any(String),
    detail: expect.any(String),
    timestamp: expect.any(String),
  });
  expectNoInternals(answer, sent);
}

export function expectNoInternals({ fields, body }: RawAnswer, sent = ''): void {
  const said = sent === '' ? body : body.replaceAll(sent, '');
  expect(said).not.toMatch(internals);
  expect(fields).not.toMatch(internals);
}

/**
 * Expects that every request is consistent (in the queue, leased or completed), and that their number is that of the
 * accepted ones.
 */
export async function expectWholeRequests(calls: QueueCalls, accepted: number): Promise<void> {
  const [books] = await calls.service.query(
    `SELECT count(*)::integer AS requests,
            count(*) FILTER (WHERE state = 'IN_QUEUE')::integer
              - (SELECT count(*)::integer FROM queue_entry) - (SELECT count(*)::integer FROM delayed_entry) AS lost,
            count(*) FILTER (WHERE state = 'IN_PROGRESS')::integer - (SELECT count(*)::integer FROM lease) AS stuck,
            (SELECT count(*)::integer FROM idempotency_key WHERE request_id NOT IN (SELECT id FROM request)) AS keys
     FROM request`,
  );
  expect(books).toEqual({ requests: accepted, lost: 0, stuck: 0, keys: 0 });
}
