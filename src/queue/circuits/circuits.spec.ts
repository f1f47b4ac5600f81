import { Logger } from '@nestjs/common';
import { Subject } from 'rxjs';
import { Clock } from '../../database/clock.js';
import type { Model } from '../../models/model.js';
import type { ModelsService } from '../../models/models.service.js';
import { RunFailure } from '../runs/runner.js';
import type { RunExecution } from '../runs/run-execution.js';
import type { WaitingIndex } from '../waiting/waiting-index.js';
import { Circuits } from './circuits.js';
import type { ModelAvailability } from './model-availability.js';

const { jest } = import.meta;
const url = 'http://user:secret@gpu.internal:9000/secret?token=secret';
const model = (id: string, circuit = true): Model =>
  ({ id, circuit, runner: { address: () => url } }) as unknown as Model;
const models = [model('acme/up'), model('acme/down'), model('acme/raw', false)];
const away = new RunFailure('The model answered 503.', { code: 'model_unavailable', outage: 'free' });
let lines: [level: string, line: unknown][];
let circuits: Circuits;
let availability: 'available' | 'unavailable';

beforeAll(() => {
  const writeAs = (level: string) => (line: unknown) => void lines.push([level, line]);
  Logger.overrideLogger({ log: writeAs('info'), warn: writeAs('warn'), error: writeAs('error') });
});
beforeEach(() => {
  jest.useFakeTimers();
  lines = [];
  availability = 'unavailable';
  circuits = new Circuits(
    { all: () => models, changes: new Subject() } as unknown as ModelsService,
    { depth: () => 3 } as unknown as WaitingIndex,
    { of: () => availability } as unknown as ModelAvailability,
    new Clock(),
  );
});
afterEach(() => jest.useRealTimers());

const run = (id: string, hasReachedModel = true): RunExecution =>
  ({ model: models.find((one) => one.id === id), hasReachedModel }) as RunExecution;
const fail = (id: string): void =>
  void circuits.outageOf(run(id), { kind: 'failure', error: away }, circuits.startProbe(id));
const rooms = (): number[] => models.map(({ id }) => circuits.room(id));

it('is one for all models of an address, but for those that have it off', () => {
  fail('acme/up');
  expect(rooms()).toEqual([0, 0, Infinity]);
  expect(circuits.outageOf(run('acme/raw'), { kind: 'failure', error: away })).toBeUndefined();
  jest.advanceTimersByTime(1_001);
  expect(rooms()).toEqual([1, 1, Infinity]);
  circuits.startProbe('acme/down');
  expect(rooms()).toEqual([0, 0, Infinity]);
});

it('is one warning at first, one a minute while it lasts and one line at its end, without secrets', () => {
  fail('acme/up');
  fail('acme/up');
  const place = 'acme/up, acme/down at http://gpu.internal:9000';
  expect(lines).toEqual([['warn', `${place} is away: The model answered 503. Requests that wait: 7`]]);
  jest.advanceTimersByTime(120_000);
  expect(lines.slice(1)).toEqual(
    Array(2).fill(['warn', `${place} is still away: The model answered 503. Requests that wait: 6`]),
  );
  circuits.outageOf(run('acme/up'), { kind: 'output', output: '1' }, circuits.startProbe('acme/up'));
  expect(lines.slice(3)).toEqual([['info', `${place} is there again after 120 s`]]);
  jest.advanceTimersByTime(120_000);
  expect(lines).toHaveLength(4);
  expect(JSON.stringify(lines)).not.toContain('secret');
});

it('closes when a probe has been connected for five seconds, and not for less', () => {
  fail('acme/up');
  jest.advanceTimersByTime(1_001);
  circuits.probeReached('acme/up', circuits.startProbe('acme/up')!);
  jest.advanceTimersByTime(4_999);
  expect(circuits.room('acme/up')).toBe(0);
  jest.advanceTimersByTime(1);
  expect(circuits.room('acme/up')).toBe(Infinity);
});

it('wakes its models when a probe is due, when one came to nothing, and when it closes', () => {
  const woken: unknown[] = [];
  circuits.wakes.subscribe((ids) => woken.push(ids));
  fail('acme/up');
  jest.advanceTimersByTime(1_001);
  expect(woken).toHaveLength(1);
  circuits.endProbe('acme/up', circuits.startProbe('acme/up')!);
  expect(woken).toHaveLength(2);
  circuits.outageOf(run('acme/up'), { kind: 'output', output: '1' }, circuits.startProbe('acme/up'));
  expect(woken).toEqual(Array(3).fill(['acme/up', 'acme/down']));
});

it('asks for its share of the slots when another node has found the model', () => {
  const yielded: number[] = [];
  circuits.changes.subscribe(() => yielded.push(circuits.yielded.length));
  fail('acme/up');
  jest.advanceTimersByTime(10_000);
  availability = 'available';
  circuits.hint(['acme/up']);
  expect([yielded, circuits.room('acme/up')]).toEqual([[2, 0], 1]);
});

it('takes a run whose time was over before it was connected for one that never reached its model', () => {
  const timedOut = { kind: 'aborted', reason: 'timed_out' } as const;
  expect(circuits.outageOf(run('acme/up'), timedOut)).toBeUndefined();
  expect(circuits.room('acme/up')).toBe(Infinity);
  expect(circuits.outageOf(run('acme/up', false), timedOut)).toBe('free');
  expect(circuits.room('acme/up')).toBe(0);
});

it('stays open where a probe is connected but its model silent', () => {
  fail('acme/up');
  jest.advanceTimersByTime(1_001);
  const silent = { kind: 'aborted', reason: 'timed_out' } as const;
  expect(circuits.outageOf(run('acme/up'), silent, circuits.startProbe('acme/up'))).toBeUndefined();
  jest.advanceTimersByTime(1_999);
  expect(circuits.room('acme/up')).toBe(0);
  jest.advanceTimersByTime(2);
  expect(circuits.room('acme/up')).toBe(1);
});
