import { once } from 'node:events';
import { createServer, get, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Response } from 'express';
import { linesFile, sendLines } from './send-lines.js';

test('a file is closed when its client disconnects before the first bytes are read', async () => {
  let isClosed = false;
  const sent = new Promise<void>((resolve) => {
    const server = createServer((_, response) => {
      server.close();
      const watch = { bind: () => undefined };
      resolve(sendLines(watch, response as ServerResponse as Response, linesFile('a'), linesAfter(response)));
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
