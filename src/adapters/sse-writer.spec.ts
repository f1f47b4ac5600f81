import { EventEmitter } from 'node:events';
import type { MessageEvent } from '@nestjs/common';
import type { Response } from 'express';
import { Subject } from 'rxjs';
import { SseWriter } from './sse-writer.js';

test('an unreadable part ends the subscription with an error, not the process', async () => {
  const response = Object.assign(new EventEmitter(), { headersSent: false }) as unknown as Response;
  const events = new Subject<MessageEvent>();
  const following = new SseWriter(response).follow(events, (part) => [String(JSON.parse(part))]);
  events.next({ type: 'output', data: '{"index":0,"delta":oops}' });
  await expect(following).rejects.toThrow('a part of an output cannot be read');
  expect(events.observed).toBe(false);
});
