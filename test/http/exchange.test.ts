import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import express from 'express';
import { type Logger, pino } from 'pino';
import { DomainError } from '../../src/errors/domain-error.js';
import { Redaction } from '../../src/tools/redaction.js';
import { AccessLog } from '../../src/http/access-log.js';
import { Exchange } from '../../src/requests/fast-path.js';
import { until } from '../support/index.js';

type Line = Record<string, unknown>;
type Listening = (logger: Logger) => RequestListener;

const options = (level = 'info') => ({
  level,
  base: { node: 'a "node"' },
  timestamp: () => ',"time":"now"',
  formatters: { level: (label: string) => ({ level: label }) },
});

/** Makes one call of a server, and returns the log lines that it leaves. */
async function call(listening: Listening, path = '/v1/queue/a/b?token=hunter2', level?: string) {
  let log = '';
  let closed = false;
  const listener = listening(pino(options(level), { write: (lines: string) => void (log += lines) }));
  const server = createServer((request, response) => {
    response.on('close', () => (closed = true));
    listener(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      headers: { authorization: 'Key hunter2', 'x-request-id': 'mine', connection: 'close' },
    });
    const body = await response.text();
    await until(() => closed);
    // The log lines of a turn are written at its end.
    await nextTurn();
    const lines = log.split('\n').filter(Boolean);
    return { response, body, log, lines: lines.map((line) => JSON.parse(line) as Line) };
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

const byExchange =
  (act: (exchange: Exchange, response: ServerResponse) => void): Listening =>
  (logger) =>
  (request, response) =>
    act(
      new Exchange(request, response, logger, new AccessLog(logger, new Redaction()), ['X-Always', 'yes']),
      response,
    );

const byExpress: Listening = (logger) =>
  express().use(new AccessLog(logger, new Redaction()).middleware, (_request, response) => {
    response.status(202).send('done');
  });

test('an answer has its header fields and a log line without the query', async () => {
  const name = 'Hafen bei Dämmerung, 港, 🚢';
  const { response, body, log, lines } = await call(
    byExchange((exchange) => {
      exchange.setFields(['X-More', 'also']);
      exchange.answer({ status: 202, body: JSON.stringify({ name }) });
    }),
  );
  expect(response.status).toBe(202);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'x-request-id': 'mine',
    'x-always': 'yes',
    'x-more': 'also',
    'content-type': 'application/json; charset=utf-8',
  });
  expect(JSON.parse(body)).toEqual({ name });
  expect(lines).toMatchObject([{ callId: 'mine', path: '/v1/queue/a/b', status: 202, msg: 'answered' }]);
  expect(log).not.toContain('hunter2');
});

test('an error is a problem with the fields set before it, and its code is in the line', async () => {
  const { response, body, lines } = await call(
    byExchange((exchange) => {
      exchange.setFields(['X-More', 'also']);
      exchange.fail(new DomainError('unknown_model', 'There is no such model here.'));
    }),
  );
  expect([response.status, response.headers.get('x-more')]).toEqual([404, 'also']);
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  expect(JSON.parse(body)).toMatchObject({ code: 'unknown_model', instance: '/v1/queue/a/b' });
  expect(lines).toMatchObject([{ status: 404, code: 'unknown_model' }]);
});

test('an unforeseen failure is logged in full, and reveals nothing to the caller', async () => {
  const failing = byExchange((exchange) => exchange.fail(new Error('SELECT hunter3')));
  const { response, body, lines } = await call(failing);
  expect(response.status).toBe(500);
  expect(body).not.toContain('hunter3');
  expect(lines.map(({ msg }) => msg)).toEqual(['a request failed unexpectedly', 'answered']);
  expect(JSON.stringify(lines[0])).toContain('hunter3');
});

test('an error after the answer has begun breaks the connection', async () => {
  const late = byExchange((exchange, response) => {
    response.write('half');
    exchange.fail(new Error('too late'));
  });
  await expect(call(late)).rejects.toThrow();
});

test('every exchange is one line with its id, method, path, status and duration, and no secret', async () => {
  const { log, lines } = await call(byExpress, '/v1/queue/requests/1?token=hunter2');
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatchObject({
    callId: 'mine',
    method: 'GET',
    path: '/v1/queue/requests/1',
    status: 202,
    durationMs: expect.any(Number) as number,
    msg: 'answered',
  });
  expect(log).not.toContain('hunter2');
});

test('a line is identical to the line that pino would write', async () => {
  const { log } = await call(byExpress, '/v1/queue/a%20"model"/\u00e9?x');
  const { level, time, node, msg, ...fields } = JSON.parse(log) as Line;
  expect([level, time, node, msg]).toEqual(['info', 'now', 'a "node"', 'answered']);
  let expected = '';
  pino(options(), { write: (line: string) => void (expected = line) }).info(fields, 'answered');
  expect(log).toBe(expected);
});

test.each(['/health/live', '/health/ready', '/docs/', '/openapi.json'])(
  '%s is logged at debug, but not at info',
  async (path) => {
    expect((await call(byExpress, path)).lines).toEqual([]);
    expect((await call(byExpress, path, 'debug')).lines).toHaveLength(1);
  },
);

test('exchanges that end in the same turn are written together, a line each', async () => {
  const written: string[] = [];
  const logger = pino({ level: 'info' }, { write: (lines: string) => void written.push(lines) });
  const log = new AccessLog(logger, new Redaction());
  const responses = ['first', 'second'].map((requestId) => {
    const response = Object.assign(new EventEmitter(), { statusCode: 200, writableFinished: true });
    const request = { method: 'GET', headers: {} } as IncomingMessage;
    log.follow(request, response as unknown as ServerResponse, '/', requestId);
    return response;
  });
  for (const response of responses) response.emit('close');
  expect(written).toEqual([]);
  await nextTurn();
  expect(written).toHaveLength(1);
  const lines = written[0]!.trimEnd().split('\n');
  expect(lines.map((line) => (JSON.parse(line) as Line)['callId'])).toEqual(['first', 'second']);
});
