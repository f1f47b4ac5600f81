import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import express from 'express';
import { pino } from 'pino';
import { AccessLog } from '../../src/http/access-log.js';
import { assignRequestId } from '../../src/http/request-id.js';
import { until } from '../support/index.js';

type Line = Record<string, unknown>;

const options = (level: string) => ({
  level,
  base: { node: 'a "node"' },
  timestamp: () => ',"time":"now"',
  formatters: { level: (label: string) => ({ level: label }) },
});

/** The lines that an exchange leaves at a level. */
async function linesOf(path: string, level: string): Promise<Line[]> {
  return (await textOf(path, level))
    .trim()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line);
}

async function textOf(path: string, level: string): Promise<string> {
  let text = '';
  const logger = pino(options(level), { write: (lines: string) => void (text += lines) });
  let closed = false;
  const app = express();
  app.use(assignRequestId, new AccessLog(logger).middleware, (_request, response) => {
    response.on('close', () => (closed = true));
    response.status(202).send('done');
  });
  const server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await fetch(`http://127.0.0.1:${port}${path}`, {
    headers: { authorization: 'Key hunter2', 'x-request-id': 'mine', connection: 'close' },
  }).then((response) => response.text());
  await until(() => closed);
  await new Promise((resolve) => server.close(resolve));
  // The lines of a turn are written at its end.
  await nextTurn();
  return text;
}

test('an exchange is one line with what it takes to find it, and no secret', async () => {
  const lines = await linesOf('/v1/queue/requests/1?token=hunter2', 'info');
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatchObject({
    requestId: 'mine',
    method: 'GET',
    path: '/v1/queue/requests/1',
    status: 202,
    durationMs: expect.any(Number) as number,
    msg: 'answered',
  });
  expect(JSON.stringify(lines)).not.toContain('hunter2');
});

test('a line is what pino would write', async () => {
  const text = await textOf('/v1/queue/a%20"model"/\u00e9?x', 'info');
  const { level, time, node, msg, ...fields } = JSON.parse(text) as Line;
  expect([level, time, node, msg]).toEqual(['info', 'now', 'a "node"', 'answered']);
  let expected = '';
  pino(options('info'), { write: (line: string) => void (expected = line) }).info(fields, 'answered');
  expect(text).toBe(expected);
});

test.each(['/health/live', '/health/ready', '/docs/', '/openapi.json'])(
  '%s is quiet at info',
  async (path) => {
    expect(await linesOf(path, 'info')).toEqual([]);
    expect(await linesOf(path, 'debug')).toHaveLength(1);
  },
);

test('exchanges that end in the same turn are written together, a line each', async () => {
  const written: string[] = [];
  const log = new AccessLog(pino({ level: 'info' }, { write: (lines: string) => void written.push(lines) }));
  const responses = ['first', 'second'].map((requestId) => {
    const response = Object.assign(new EventEmitter(), { statusCode: 200, writableFinished: true });
    log.follow({ method: 'GET' } as IncomingMessage, response as unknown as ServerResponse, '/', requestId);
    return response;
  });
  for (const response of responses) response.emit('close');
  expect(written).toEqual([]);
  await nextTurn();
  expect(written).toHaveLength(1);
  const lines = written[0]!.trimEnd().split('\n');
  expect(lines.map((line) => (JSON.parse(line) as Line)['requestId'])).toEqual(['first', 'second']);
});
