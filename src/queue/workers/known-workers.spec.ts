import type { Database } from '../../database/database.js';
import type { ModelsService } from '../../models/models.service.js';
import type { ModelAvailability } from '../circuits/model-availability.js';
import { KnownWorkers } from './known-workers.js';

const model = 'test/pulled';

function knownWorkers(): KnownWorkers {
  const models = { takenBy: () => [] } as Partial<ModelsService> as ModelsService;
  const availability = { setWithoutWorkers: () => undefined } as unknown as ModelAvailability;
  return new KnownWorkers({} as Database, models, availability);
}

it('counts a killed worker for 30 s, and not longer', () => {
  const workers = knownWorkers();
  const worker = workers.note('key', { id: 'one', models: [model] });
  worker.seenAt = performance.now() - 29_000;
  expect(workers.count(model)).toBe(1);
  worker.seenAt = performance.now() - 31_000;
  expect(workers.count(model)).toBe(0);
});

it('counts a worker while its claim is a long poll, and writes that it was just seen', () => {
  const workers = knownWorkers();
  const worker = workers.note('key', { id: 'one', models: [model] });
  workers.written(workers.due());
  const end = worker.noteOpenCall();
  worker.seenAt = worker.writtenAt = performance.now() - 31_000;
  expect(workers.count(model)).toBe(1);
  expect(workers.due()).toMatchObject([{ id: 'one', seenAgoMs: expect.closeTo(0, -2) }]);
  end();
  end();
  expect(worker.openCalls).toBe(0);
});

it.each(['stuck', 'drain'])('does not count a worker that reports %s, until it claims again', (state) => {
  const workers = knownWorkers();
  workers.note('key', { id: 'one', models: [model] });
  workers.note('key', { id: 'one', state });
  expect(workers.count(model)).toBe(0);
  workers.note('key', { id: 'one', state: 'run' });
  expect(workers.count(model)).toBe(1);
  workers.note('key', { id: 'one', state });
  workers.note('key', { id: 'one', models: [model] });
  expect(workers.count(model)).toBe(1);
  expect(workers.due()).toMatchObject([{ id: 'one', state: '' }]);
});

it('does not count a worker that reports stuck to another node, or that an operator drains', () => {
  const workers = knownWorkers();
  const { uid } = workers.note('key', { id: 'one', models: [model] });
  workers.written(workers.due());
  const row = { uid, told: 'run', state: '', failuresInRow: 0, restsMs: null } as const;
  workers.read([{ ...row, state: 'stuck' }], new Map());
  expect(workers.count(model)).toBe(0);
  workers.read([row], new Map());
  expect(workers.count(model)).toBe(1);
  workers.read([{ ...row, told: 'drain' }], new Map());
  expect(workers.count(model)).toBe(0);
});

it('counts a resting worker, although it may be silent for up to a minute', () => {
  const workers = knownWorkers();
  const worker = workers.note('key', { id: 'one', models: [model] });
  worker.seenAt = performance.now() - 31_000;
  worker.restsUntil = performance.now() + 5_000;
  expect(workers.count(model)).toBe(1);
});
