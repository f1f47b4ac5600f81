import type { Database } from '../../database/database.js';
import type { ModelsService } from '../../models/models.service.js';
import type { ModelAvailability } from '../circuits/model-availability.js';
import { WorkerBook } from './worker-book.js';

const model = 'test/pulled';

function bookOf(): WorkerBook {
  const models = { takenBy: () => [] } as Partial<ModelsService> as ModelsService;
  const availability = { setWithoutWorkers: () => undefined } as unknown as ModelAvailability;
  return new WorkerBook({} as Database, models, availability);
}

it('counts a worker that was killed for 30 s, and not for a minute', () => {
  const book = bookOf();
  const worker = book.note('key', { id: 'one', models: [model] });
  worker.seenAt = performance.now() - 29_000;
  expect(book.count(model)).toBe(1);
  worker.seenAt = performance.now() - 31_000;
  expect(book.count(model)).toBe(0);
});

it('counts a worker whose claim is held as long as its connection stands, and writes that it is there', () => {
  const book = bookOf();
  const worker = book.note('key', { id: 'one', models: [model] });
  book.written(book.due());
  const end = worker.holdCall();
  worker.seenAt = worker.writtenAt = performance.now() - 31_000;
  expect(book.count(model)).toBe(1);
  expect(book.due()).toMatchObject([{ id: 'one', seenAgoMs: expect.closeTo(0, -2) }]);
  end();
  end();
  expect(worker.heldCalls).toBe(0);
});

it.each(['stuck', 'drain'])('does not count a worker that says %s, until it claims again', (state) => {
  const book = bookOf();
  book.note('key', { id: 'one', models: [model] });
  book.note('key', { id: 'one', state });
  expect(book.count(model)).toBe(0);
  book.note('key', { id: 'one', state: 'run' });
  expect(book.count(model)).toBe(1);
  book.note('key', { id: 'one', state });
  book.note('key', { id: 'one', models: [model] });
  expect(book.count(model)).toBe(1);
  expect(book.due()).toMatchObject([{ id: 'one', state: '' }]);
});

it('does not count a worker that has said so to another node, or that an operator has drained', () => {
  const book = bookOf();
  const { uid } = book.note('key', { id: 'one', models: [model] });
  book.written(book.due());
  const row = { uid, told: 'run', state: '', failuresInRow: 0, restsMs: null } as const;
  book.read([{ ...row, state: 'stuck' }], new Map());
  expect(book.count(model)).toBe(0);
  book.read([row], new Map());
  expect(book.count(model)).toBe(1);
  book.read([{ ...row, told: 'drain' }], new Map());
  expect(book.count(model)).toBe(0);
});

it('counts a worker that rests, which is told to stay away for up to a minute', () => {
  const book = bookOf();
  const worker = book.note('key', { id: 'one', models: [model] });
  worker.seenAt = performance.now() - 31_000;
  worker.restsUntil = performance.now() + 5_000;
  expect(book.count(model)).toBe(1);
});
