import { EventEmitter2 } from '@nestjs/event-emitter';
import { QueueEvents } from './queue-events.js';

it('publishes the number of runs, not of starts, of a request that ended while it waited', () => {
  const events = new QueueEvents(new EventEmitter2());
  const completed: unknown[] = [];
  events.on('request.completed', (list) => completed.push(...list));
  const entry = { id: 'one', modelId: 'test/model', priority: 0, start: 1, seq: 1, attempt: 3, runs: 1 };
  events.publishEnded('cancelled', [entry]);
  expect(completed).toEqual([{ id: 'one', modelId: 'test/model', outcome: 'cancelled', attempt: 1 }]);
});
