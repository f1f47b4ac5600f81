import { Logger } from '@nestjs/common';
import { Subject } from 'rxjs';
import { Clock } from '../../database/clock.js';
import type { HealthCheck } from '../../models/runner-kind.js';
import type { Model } from '../../models/model.js';
import type { ModelsService } from '../../models/models.service.js';
import { RunFailure } from '../runs/runner.js';
import type { RunEnd, RunExecution } from '../runs/run-execution.js';
import type { WaitingIndex } from '../waiting/waiting-index.js';
import type { Destination } from './addresses.js';
import { Circuits } from './circuits.js';
import type { ModelAvailability } from './model-availability.js';

const url = 'http://user:secret@gpu.internal:9000/secret?token=secret';
const model = (id: string, circuit = true, urls = [url], healthCheck?: HealthCheck): Model =>
  ({ id, circuit, runner: { addresses: () => urls, healthCheck } }) as unknown as Model;
const checkedUrl = 'http://checked:9000/secret';
const many = [1, 2, 3].map((n) => `http://gpu-${n}:9000/secret`);
const models = [
  model('acme/up'),
  model('acme/down'),
  model('acme/raw', false),
  model('acme/many', true, many),
  model('acme/same', true, [`${many[0]}/a`, `${many[0]}/b`]),
  model('acme/checked', true, [checkedUrl], { path: '/health', everyMs: 2_000 }),
];
const [up, down, raw] = ['acme/up', 'acme/down', 'acme/raw'] as const;
const away = new RunFailure('The model answered 503.', { code: 'model_unavailable', outage: 'free' });
let lines: [level: string, line: unknown][];
let circuits: Circuits;
let known: readonly Model[];
let changes: Subject<void>;
let availability: 'available' | 'unavailable';

beforeAll(() => {
  const writeAs = (level: string) => (line: unknown) => void lines.push([level, line]);
  Logger.overrideLogger({ log: writeAs('info'), warn: writeAs('warn'), error: writeAs('error') });
});
beforeEach(() => {
  jest.useFakeTimers();
  lines = [];
  availability = 'unavailable';
  known = models;
  changes = new Subject();
  circuits = new Circuits(
    {
      all: () => known,
      get: (id: string) => known.find((one) => one.id === id),
      changes,
    } as unknown as ModelsService,
    { depth: () => 3 } as unknown as WaitingIndex,
    { of: () => availability } as unknown as ModelAvailability,
    new Clock(),
  );
});
afterEach(() => jest.useRealTimers());

const run = (id: string, hasReachedModel = true): RunExecution =>
  ({ model: models.find((one) => one.id === id), hasReachedModel }) as RunExecution;
/** Starts the probe if one is due, otherwise another run. */
const start = (id: string = up): Destination => circuits.startRun(id, circuits.startProbes(id, 1)[0])!;
const failing = { kind: 'failure', error: away } as const;
const succeeding = { kind: 'output', output: '1' } as const;
const end = (id: string, how: RunEnd, sent = start(id)): void => {
  circuits.outageOf(run(id), how, sent);
  circuits.endRun(sent);
};
const fail = (id: string, sent?: Destination): void => end(id, failing, sent);
const rooms = (): number[] => [up, down, raw].map((id) => circuits.room(id));
/** Starts runs that do not end, and returns their addresses. */
const next = (count: number, id = 'acme/many'): string[] =>
  Array.from({ length: count }, () => new URL(start(id).target!.url).host);

it('is shared by all models of an address, except models with the circuit off', () => {
  fail(up);
  expect(rooms()).toEqual([0, 0, Infinity]);
  expect(circuits.startRun(up)).toBeUndefined();
  expect(circuits.outageOf(run(raw), failing, start(raw))).toBeUndefined();
  jest.advanceTimersByTime(1_001);
  expect(rooms()).toEqual([1, 1, Infinity]);
  circuits.startProbes(down, 1);
  expect(rooms()).toEqual([0, 0, Infinity]);
});

it('forgets its outage when a models file turns it off, even if a later file turns it on', () => {
  fail(up);
  known = models.map((one) => ({ ...one, circuit: false }));
  changes.next();
  expect(rooms()).toEqual([Infinity, Infinity, Infinity]);
  known = models;
  changes.next();
  expect(rooms()).toEqual([Infinity, Infinity, Infinity]);
  expect(circuits.nextProbeInMs(up)).toBeUndefined();
});

it('logs an outage as a warning, one more warning a minute and a line at its end, without secrets', () => {
  const second = start();
  fail(up);
  fail(up, second);
  const place = `${up}, ${down} at http://gpu.internal:9000`;
  expect(lines).toEqual([['warn', `${place} is away: The model answered 503. Waiting requests: 7`]]);
  jest.advanceTimersByTime(120_000);
  expect(lines.slice(1)).toEqual(
    Array(2).fill(['warn', `${place} is still away: The model answered 503. Waiting requests: 6`]),
  );
  end(up, succeeding);
  expect(lines.slice(3)).toEqual([['info', `${place} is reachable again after 120 s`]]);
  jest.advanceTimersByTime(120_000);
  expect(lines).toHaveLength(4);
  expect(JSON.stringify(lines)).not.toContain('secret');
});

it('closes when a probe has been connected for five seconds, and not for less', () => {
  fail(up);
  jest.advanceTimersByTime(1_001);
  circuits.probeReached(start());
  jest.advanceTimersByTime(4_999);
  expect(circuits.room(up)).toBe(0);
  jest.advanceTimersByTime(1);
  expect(circuits.room(up)).toBe(Infinity);
});

it('wakes its models when a probe is due, when a probe ends without a result, and when it closes', () => {
  const woken: unknown[] = [];
  circuits.wakes.subscribe((ids) => woken.push(ids));
  fail(up);
  jest.advanceTimersByTime(1_001);
  expect(woken).toHaveLength(1);
  circuits.endRun(start());
  expect(woken).toHaveLength(2);
  end(up, succeeding);
  expect(woken).toEqual(Array(3).fill([up, down]));
});

it('asks for its share of the slots when another node reaches the model', () => {
  const yielded: number[] = [];
  circuits.changes.subscribe((changes) => {
    const count = circuits.opened.filter(({ yieldsSlots }) => yieldsSlots).length;
    if (changes.length > 0) yielded.push(count);
  });
  fail(up);
  jest.advanceTimersByTime(10_000);
  availability = 'available';
  circuits.hint([up]);
  expect([yielded, circuits.room(up)]).toEqual([[2, 0], 1]);
});

it('treats a run that timed out before it was connected as a free outage', () => {
  const timedOut = { kind: 'aborted', reason: 'timed_out' } as const;
  expect(circuits.outageOf(run(up), timedOut, start())).toBeUndefined();
  expect(circuits.room(up)).toBe(Infinity);
  expect(circuits.outageOf(run(up, false), timedOut, start())).toBe('free');
  expect(circuits.room(up)).toBe(0);
});

it('stays open if a probe is connected but times out', () => {
  fail(up);
  jest.advanceTimersByTime(1_001);
  end(up, { kind: 'aborted', reason: 'timed_out' });
  jest.advanceTimersByTime(1_999);
  expect(circuits.room(up)).toBe(0);
  jest.advanceTimersByTime(2);
  expect(circuits.room(up)).toBe(1);
});

it('treats a prompt 502 of a proxy as a free outage, but only for a probe', () => {
  const refused = (isPrompt: boolean): RunEnd => ({
    kind: 'failure',
    error: new RunFailure('The model answered 502.', {
      code: 'model_unavailable',
      outage: 'costly',
      isPrompt,
    }),
  });
  const outages = [true, true, false].map((isPrompt) => {
    const sent = start();
    const outage = circuits.outageOf(run(up), refused(isPrompt), sent);
    circuits.endRun(sent);
    jest.advanceTimersByTime(30_001);
    return [outage, sent.probe !== undefined];
  });
  expect(outages).toEqual([
    ['costly', false],
    ['free', true],
    ['costly', true],
  ]);
});

it('makes a probe due at once when an operator asks for it, unless one is running', () => {
  fail(up);
  for (const _ of [1, 2, 3]) {
    jest.advanceTimersByTime(30_001);
    fail(up);
  }
  expect([circuits.room(up), circuits.nextProbeInMs(up)]).toEqual([0, 8_000]);
  circuits.probeNow([down, 'acme/many', 'acme/gone']);
  expect([circuits.room(up), circuits.nextProbeInMs(up)]).toEqual([1, 0]);
  start();
  circuits.probeNow([up]);
  expect([circuits.room(up), circuits.nextProbeInMs(up)]).toEqual([0, undefined]);
});

describe('with a health check', () => {
  const id = 'acme/checked';

  it('sends no run before the first check succeeds, and is not away until a check fails', () => {
    expect([circuits.room(id), circuits.isProbeDue(id), circuits.opened]).toEqual([0, false, []]);
    const [check, ...others] = circuits.startHealthChecks();
    expect([check!.model.id, others, circuits.startHealthChecks()]).toEqual([id, [], []]);
    circuits.endHealthCheck(check!, away);
    expect(circuits.opened).toMatchObject([{ modelId: id, reason: 'The model answered 503.', isAway: true }]);
    expect(lines).toEqual([['warn', expect.stringContaining('is away: The model answered 503.')]]);
    jest.advanceTimersByTime(1_001);
    expect([circuits.room(id), circuits.isProbeDue(id)]).toEqual([0, false]);
    circuits.endHealthCheck(circuits.startHealthChecks()[0]!);
    expect([circuits.room(id), circuits.opened, lines.length]).toEqual([Infinity, [], 2]);
  });

  it('logs nothing about an address that its models left during the check', () => {
    const check = circuits.startHealthChecks()[0]!;
    known = models.filter((one) => one.id !== id);
    changes.next();
    circuits.endHealthCheck(check, away);
    jest.advanceTimersByTime(600_000);
    expect([lines, jest.getTimerCount()]).toEqual([[], 0]);
  });

  it('logs nothing if the first check succeeds', () => {
    circuits.endHealthCheck(circuits.startHealthChecks()[0]!);
    expect([circuits.room(id), lines]).toEqual([Infinity, []]);
  });

  it('is checked 1 s after a failed run, and then at its interval; a successful run does not close it', () => {
    circuits.endHealthCheck(circuits.startHealthChecks()[0]!);
    const other = start(id);
    fail(id);
    end(id, succeeding, other);
    const pauses = [1, 2, 3].map(() => {
      const inMs = circuits.nextProbeInMs(id)!;
      jest.advanceTimersByTime(inMs + 1);
      circuits.endHealthCheck(circuits.startHealthChecks()[0]!, away);
      return inMs;
    });
    expect(pauses).toEqual([1_000, 2_000, 2_000]);
  });
});

it('sends nothing but a suspect to an address in quarantine', () => {
  const address = 'http://gpu.internal:9000/secret';
  const woken: unknown[] = [];
  circuits.wakes.subscribe((ids) => woken.push(ids));
  const ordinary = start();
  circuits.quarantine(new Map([[address, down]]));
  expect([rooms(), circuits.startRun(up), circuits.isClear(address)]).toEqual([[0, 0, 0], undefined, false]);
  expect(circuits.startSuspect(down, address)).toBeUndefined();
  circuits.endRun(ordinary);
  expect([circuits.isClear(address), circuits.suspectsReady(down)]).toEqual([true, 1]);
  const suspect = circuits.startSuspect(down, address)!;
  expect(circuits.startRun(down, suspect)).toBe(suspect);
  expect([circuits.startSuspect(down, address), circuits.isClear(address)]).toEqual([undefined, true]);
  circuits.endRun(suspect);
  circuits.quarantine(new Map());
  expect([rooms(), woken]).toEqual([[Infinity, Infinity, Infinity], [[up, down, raw]]]);
});

it.each([
  ['has another health check', [model(up, true, [url], { path: '/health', everyMs: 2_000 })]],
  ['has another secret', [model(up, true, [url.replaceAll('secret@', 'other@')])]],
  ['is left', []],
])('knows the runs at an address that %s, and keeps its quarantine', (_, changed) => {
  const address = 'http://gpu.internal:9000/secret';
  const ordinary = start();
  circuits.quarantine(new Map([[address, undefined]]));
  known = changed;
  changes.next();
  for (const check of circuits.startHealthChecks()) circuits.endHealthCheck(check);
  expect(circuits.has(address)).toBe(changed.length > 0);
  if (circuits.has(address)) expect(circuits.startRun(up)).toBeUndefined();
  expect([circuits.isClear(address), circuits.runningAt(address)]).toEqual([false, 1]);
  circuits.endRun(ordinary);
  expect([circuits.isClear(address), circuits.runningAt(address)]).toEqual([true, 0]);
  circuits.quarantine(new Map());
  known = models;
  changes.next();
  expect(circuits.startRun(up)).toBeDefined();
});

describe('suspects', () => {
  const id = 'acme/many';
  const [lost, kept] = many as [string, string];

  it('may run for models with circuits only', () => {
    const address = 'http://gpu.internal:9000/secret';
    const placesOf = (modelId: string): unknown[] =>
      circuits.suspectPlaces.filter((place) => place.modelId === modelId);
    expect([up, raw].map(placesOf)).toEqual([[{ address, modelId: up }], []]);
    expect(placesOf(id)).toEqual(many.map((url) => ({ address: url, modelId: id })));
  });

  it('need a slot while their address is reached or its probe is due, and not while it is away', () => {
    circuits.quarantine(new Map([[lost, id]]));
    expect([circuits.suspectsReady(id), circuits.suspectsReady(up)]).toEqual([1, 0]);
    const suspect = circuits.startRun(id, circuits.startSuspect(id, lost))!;
    fail(id, suspect);
    expect(circuits.suspectsReady(id)).toBe(0);
    jest.advanceTimersByTime(1_001);
    expect(circuits.suspectsReady(id)).toBe(1);
  });

  it('need no slot while a run of this node or, for some seconds, of another node is at their address', () => {
    const run = circuits.startRun(id)!;
    circuits.quarantine(new Map([[run.target!.address, id]]));
    expect(circuits.suspectsReady(id)).toBe(0);
    circuits.endRun(run);
    expect(circuits.suspectsReady(id)).toBe(1);
    circuits.noteBusyElsewhere(run.target!.address);
    expect(circuits.suspectsReady(id)).toBe(0);
    jest.advanceTimersByTime(3_001);
    expect(circuits.suspectsReady(id)).toBe(1);
  });

  it('wake their model when they no longer need a slot', () => {
    circuits.quarantine(new Map([[lost, id]]));
    const woken: unknown[] = [];
    circuits.wakes.subscribe((ids) => woken.push(ids));
    circuits.quarantine(new Map([[lost, undefined]]));
    expect(woken).toEqual([[id]]);
  });

  it('may move from an address that no run reaches to one that is not away', () => {
    const breaking = new RunFailure('The connection broke.', { code: 'model_unavailable', outage: 'costly' });
    end(id, { kind: 'failure', error: breaking });
    expect([circuits.opened.length, circuits.insteadOf(id, lost)]).toEqual([1, undefined]);
    jest.advanceTimersByTime(1_001);
    fail(id);
    expect([lost, kept].map((address) => circuits.insteadOf(id, address))).toEqual([kept, undefined]);
    for (const _ of many.slice(1)) fail(id);
    expect(circuits.insteadOf(id, lost)).toBeUndefined();
  });
});

describe('of several addresses', () => {
  const id = 'acme/many';
  const changed: string[] = [];
  beforeEach(() => {
    changed.splice(0);
    circuits.changes.subscribe((changes) =>
      changed.push(
        ...changes.map(({ modelId, isReached }) => `${modelId} ${isReached ? 'back' : 'changed'}`),
      ),
    );
  });

  it('the address with the fewest runs is next, and equal addresses take turns', () => {
    const ends = [start(id), start(id), start(id), start(id)];
    expect(ends.map(({ target }) => target!.origin.at(-6))).toEqual(['1', '2', '3', '1']);
    for (const sent of [ends[1]!, ends[2]!]) circuits.endRun(sent);
    expect(next(3)).toEqual(['gpu-2:9000', 'gpu-3:9000', 'gpu-2:9000']);
  });

  it('addresses take turns if each run ends before the next begins', () => {
    const hosts = Array.from({ length: 6 }, () => {
      const sent = start(id);
      circuits.endRun(sent);
      return sent.target!.origin.at(-6);
    });
    expect(hosts.join('')).toBe('123123');
  });

  it('an address that is away gets one probe at a time, and the others get all other runs', () => {
    fail(id);
    expect([circuits.room(id), circuits.isProbeDue(id), changed]).toEqual([Infinity, false, []]);
    expect(next(4)).toEqual(['gpu-2:9000', 'gpu-3:9000', 'gpu-2:9000', 'gpu-3:9000']);
    jest.advanceTimersByTime(1_001);
    expect(circuits.isProbeDue(id)).toBe(true);
    const [probe, ...others] = circuits.startProbes(id, 10);
    expect([probe!.target!.url, others, circuits.isProbeDue(id)]).toEqual([many[0], [], false]);
    expect(circuits.opened).toMatchObject([
      { modelId: id, address: 'http://gpu-1:9000', isAway: false, yieldsSlots: false, isProbing: true },
    ]);
    expect(next(2)).toEqual(['gpu-2:9000', 'gpu-3:9000']);
    end(id, succeeding, circuits.startRun(id, probe));
    expect(next(2)).toEqual(['gpu-1:9000', 'gpu-1:9000']);
    expect([circuits.opened, changed]).toEqual([[], []]);
  });

  it('the model is away when all its addresses are, and is back with the first address', () => {
    for (const _ of many) fail(id);
    expect([circuits.room(id), circuits.startRun(id)]).toEqual([0, undefined]);
    expect(circuits.opened).toMatchObject(Array(3).fill({ isAway: true, yieldsSlots: true }));
    jest.advanceTimersByTime(1_001);
    expect(circuits.room(id)).toBe(3);
    const probes = circuits.startProbes(id, 2);
    expect([probes.length, circuits.room(id)]).toEqual([2, 1]);
    end(id, succeeding, circuits.startRun(id, probes[0]));
    circuits.skipProbe(probes[1]!);
    expect(circuits.opened).toMatchObject(Array(2).fill({ isAway: false, isProbing: false }));
    expect(changed).toEqual([`${id} changed`, `${id} back`]);
  });

  it('addresses with the same origin are numbered, and show no path', () => {
    fail('acme/same');
    fail('acme/same');
    expect(circuits.opened.map(({ address }) => address)).toEqual([
      'http://gpu-1:9000 (1)',
      'http://gpu-1:9000 (2)',
    ]);
    expect(JSON.stringify(lines)).not.toContain('secret');
  });
});
