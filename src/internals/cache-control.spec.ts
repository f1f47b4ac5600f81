import type { AddressInfo } from 'node:net';
import type { Server } from 'node:http';
import { Controller, Module, Res, Sse } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Response } from 'express';
import { EMPTY } from 'rxjs';
import { useCacheControl } from './cache-control.js';

@Controller()
class Streams {
  @Sse('stream')
  stream(@Res({ passthrough: true }) response: Response) {
    response.setHeader('X-Other', 'set before');
    useCacheControl(response, 'no-cache, no-transform');
    return EMPTY;
  }
}

@Module({ controllers: [Streams] })
class StreamsModule {}

it('a stream that Nest opens has our Cache-Control, once, and all other fields', async () => {
  const app = await NestFactory.create(StreamsModule, { logger: false });
  await app.listen(0, '127.0.0.1');
  try {
    const { port } = (app.getHttpServer() as Server).address() as AddressInfo;
    const { headers } = await fetch(`http://127.0.0.1:${port}/stream`);
    expect(Object.fromEntries(headers)).toMatchObject({
      'cache-control': 'no-cache, no-transform',
      'content-type': 'text/event-stream',
      'x-accel-buffering': 'no',
      'x-other': 'set before',
    });
  } finally {
    await app.close();
  }
});
