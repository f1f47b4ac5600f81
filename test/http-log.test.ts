import type { AddressInfo } from 'node:net';
import express from 'express';
import { pino } from 'pino';
import { accessLog } from '../src/http/access-log.js';
import { assignRequestId } from '../src/http/request-id.js';
import { until } from './support/index.js';

type Line = Record<string, unknown>;

/** The lines that an exchange leaves at a level. */
async function linesOf(path: string, level: string): Promise<Line[]> {
  const lines: Line[] = [];
  const logger = pino({ level }, { write: (line: string) => void lines.push(JSON.parse(line) as Line) });
  let closed = false;
  const app = express();
  app.use(assignRequestId, accessLog(logger), (_request, response) => {
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
  return lines;
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

test.each(['/health/live', '/health/ready', '/docs/', '/openapi.json'])(
  '%s is quiet at info',
  async (path) => {
    expect(await linesOf(path, 'info')).toEqual([]);
    expect(await linesOf(path, 'debug')).toHaveLength(1);
  },
);
