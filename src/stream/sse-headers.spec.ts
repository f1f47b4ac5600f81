import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Response } from 'express';
import { sseHeaders } from './sse-headers.js';

it('sends all fields and keeps one', async () => {
  let kept: unknown[] = [];
  const server = createServer((_request, answer) => {
    const response = answer as Response;
    for (const name of ['X-Request-Id', 'X-Other', 'Cache-Control']) response.setHeader(name, 'set before');
    sseHeaders(response);
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'long' });
    kept = [response.getHeaderNames(), response.getHeader('X-Request-Id'), response.headersSent];
    response.end('data: 1\n\n');
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  try {
    const { port } = server.address() as AddressInfo;
    const answer = await fetch(`http://127.0.0.1:${port}`);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'x-request-id': 'set before',
      'x-other': 'set before',
      'cache-control': 'no-cache, no-transform',
      'content-type': 'text/event-stream',
    });
    expect(await answer.text()).toBe('data: 1\n\n');
    expect(kept).toEqual([['x-request-id'], 'set before', true]);
  } finally {
    server.close();
  }
});
