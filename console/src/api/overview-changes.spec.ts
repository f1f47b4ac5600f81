import { changed } from './overview-changes';
import type { Overview, OverviewChanges } from './types';

const minute = (at: number, started = 0) => ({
  minute: new Date(at * 60_000).toISOString(),
  started,
  completed: 0,
  failed: 0,
});
const mark = (id: string) => ({ request_id: id, key_id: 'k', since: '' });
const overview = {
  at: 'then',
  models: [
    { id: 'a', waiting: 2, history: Array.from({ length: 60 }, (_, at) => minute(at)) },
    { id: 'b', waiting: 3, history: [], queue: { per_mark: 1, marks: ['x', 'y', 'z'].map(mark) } },
  ],
  nodes: [
    { id: '1', name: 'one', state: 'ready' },
    { id: '2', name: 'two', state: 'ready' },
  ],
} as unknown as Overview;

const after = (models: object[], nodes: object[] = []): Overview =>
  changed(overview, { at: 'now', models, nodes } as unknown as OverviewChanges);

test('what has not changed stays the same object', () => {
  const next = after([{ id: 'b', waiting: 4 }], [{ id: '2', name: 'two', state: 'lost' }]);
  expect(next.at).toBe('now');
  expect(next.models[0]).toBe(overview.models[0]);
  expect(next.models[1]).toEqual({ ...overview.models[1], waiting: 4 });
  expect(next.nodes).toEqual([overview.nodes[0], { id: '2', name: 'two', state: 'lost' }]);
});

test('new minutes push the oldest out, and others are replaced', () => {
  const [model] = after([{ id: 'a', history: [minute(59, 7), minute(60, 1)] }]).models;
  expect(model!.history).toHaveLength(60);
  expect(model!.history[0]).toEqual(minute(1));
  expect(model!.history.slice(-2)).toEqual([minute(59, 7), minute(60, 1)]);
});

test('marks go, and others come at the end', () => {
  const queue = { per_mark: 2, gone: ['x', 'z'], marks: ['w', 'z'].map(mark) };
  const [, model] = after([{ id: 'b', queue }]).models;
  expect(model!.queue).toEqual({ per_mark: 2, marks: ['y', 'w', 'z'].map(mark) });
});

test('a queue ends, and begins', () => {
  const [a, b] = after([
    { id: 'b', queue: null },
    { id: 'a', queue: { per_mark: 1, gone: [], marks: [mark('v')] } },
  ]).models;
  expect('queue' in b!).toBe(false);
  expect(a!.queue).toEqual({ per_mark: 1, marks: [mark('v')] });
});
