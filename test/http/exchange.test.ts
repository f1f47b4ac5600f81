import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pino } from 'pino';
import { DomainError } from '../../src/errors/domain-error.js';
import { AccessLog } from '../../src/http/access-log.js';
import { Exchange } from '../../src/requests/fast-path.js';
import { until } from '../support/index.js';

type Line = Record<string, unknown>;

/** One call of a server that answers as `act` does, and the lines that it leaves. */
async function call(act: (exchange: Exchange) => void): Promise<{ response: Response; lines: Line[] }> {
  const lines: Line[] = [];
  const logger = pino(
    { level: 'info' },
    { write: (line: string) => void lines.push(JSON.parse(line) as Line) },
  );
  let closed = false;
  const server = createServer((request, response) => {
    act(new Exchange(request, response, logger, new AccessLog(logger), ['X-Always', 'yes']));
    response.on('close', () => (closed = true));
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    const response = await fetch(`http://127.0.0.1:${port}/v1/queue/a/b?token=hunter2`, {
      headers: { authorization: 'Key hunter2', 'x-request-id': 'mine', connection: 'close' },
    });
    await until(() => closed);
    // The lines of a turn are written at its end.
    await nextTurn();
    return { response, lines };
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

test('an answer has its fields and its line in the log, without the query', async () => {
  const { response, lines } = await call((exchange) => {
    exchange.setFields(['X-More', 'also']);
    exchange.answer({ status: 202, body: JSON.stringify({ name: 'a harbour' }) });
  });
  expect(response.status).toBe(202);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'x-request-id': 'mine',
    'x-always': 'yes',
    'x-more': 'also',
    'content-type': 'application/json; charset=utf-8',
  });
  expect(await response.json()).toEqual({ name: 'a harbour' });
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatchObject({ requestId: 'mine', path: '/v1/queue/a/b', status: 202, msg: 'answered' });
  expect(JSON.stringify(lines)).not.toContain('hunter2');
});

test('text that is not ASCII arrives as it was', async () => {
  const { response } = await call((exchange) =>
    exchange.answer({ status: 200, body: JSON.stringify({ name: 'Hafen bei Dämmerung, 港, 🚢' }) }),
  );
  expect(await response.json()).toEqual({ name: 'Hafen bei Dämmerung, 港, 🚢' });
});

test('an error is a problem with the fields set before it, and its code is in the line', async () => {
  const { response, lines } = await call((exchange) => {
    exchange.setFields(['X-More', 'also']);
    exchange.fail(new DomainError('unknown_model', 'There is no such model here.'));
  });
  expect(response.status).toBe(404);
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  expect(response.headers.get('x-more')).toBe('also');
  expect(await response.json()).toMatchObject({ code: 'unknown_model', instance: '/v1/queue/a/b' });
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatchObject({ status: 404, code: 'unknown_model' });
});

test('an unforeseen failure says nothing to the caller, and everything to the log', async () => {
  const { response, lines } = await call((exchange) => exchange.fail(new Error('SELECT hunter3')));
  expect(response.status).toBe(500);
  expect(await response.text()).not.toContain('hunter3');
  expect(lines.map(({ msg }) => msg)).toEqual(['a request failed unexpectedly', 'answered']);
  expect(JSON.stringify(lines[0])).toContain('hunter3');
});

test('an error after the answer has begun breaks the connection', async () => {
  await expect(
    call((exchange) => {
      (exchange as unknown as { response: { write(text: string): void } }).response.write('half');
      exchange.fail(new Error('too late'));
    }).then(({ response }) => response.text()),
  ).rejects.toThrow();
});
