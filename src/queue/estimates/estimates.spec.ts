import { EventEmitter2 } from '@nestjs/event-emitter';
import { Subject } from 'rxjs';
import type { Clock } from '../../database/clock.js';
import { noReserve } from '../../models/model.js';
import type { ModelsService } from '../../models/models.service.js';
import { QueueEvents } from '../queue-events.js';
import { GroupTurns } from '../runs/group-turns.js';
import { type EntryChange, WaitingIndex } from '../waiting/waiting-index.js';
import { Estimates } from './estimates.js';

const group = { id: 'gpu-0', concurrency: 2, stayMs: 0 };
const all = [
  { id: 'a', concurrency: 2, group, reserve: noReserve },
  { id: 'b', concurrency: 2, group, reserve: noReserve },
  { id: 'alone', concurrency: 2, group: null, reserve: noReserve },
  { id: 'reserving', concurrency: 4, group: null, reserve: { high: 1, normal: 2 } },
];
const models = {
  changes: new Subject<void>(),
  all: () => all,
  get: (id: string) => all.find((model) => model.id === id),
  membersOf: () => all.filter((model) => model.group === group),
} as unknown as ModelsService;

const entry = (modelId: string, seq: number, priority = 0): EntryChange => ({
  modelId,
  priority,
  start: 0,
  seq,
  attempt: 0,
});

/** Estimates the starts of the requests of `asked` if runs take 1 s, and those of `b` `runMsOfB`. */
function startsOf(
  asked: EntryChange[],
  waiting: EntryChange[],
  { runMsOfB = 1_000, turnOf }: { runMsOfB?: number; turnOf?: string } = {},
): number[] {
  const [index, events] = [new WaitingIndex(), new QueueEvents(new EventEmitter2())];
  const clock = { now: () => 0 } as Clock;
  const turns = new GroupTurns(models, index, events);
  if (turnOf !== undefined) turns.noteStart(turnOf);
  const estimates = new Estimates(models, index, clock, turns, events);
  for (let run = 0; run < 20; run++)
    for (const { id } of all) estimates.models.get(id)!.runTimes.add(id === 'b' ? runMsOfB : 1_000);
  for (const one of waiting) index.add(one);
  return asked.map((one) => {
    const { fromMs, toMs } = estimates.ofEntry(one, index.position(one))!.start!;
    return (fromMs + toMs) / 2;
  });
}

const older = Array.from({ length: 20 }, (_, at) => entry('b', at + 1));

it('the requests of the other models in a group count, if they have waited longer', () => {
  const asked = [entry('a', 100), entry('alone', 101)];
  const [inGroup, alone] = startsOf(asked, [...older, ...asked]);
  expect([Math.round(inGroup! / 1_000), Math.round(alone! / 1_000)]).toEqual([10, 0]);
  const early = entry('a', 0);
  expect(startsOf([early], [early, ...older])).toEqual(startsOf([entry('alone', 0)], [entry('alone', 0)]));
});

it('the requests of the other models count by the length of their runs', () => {
  const asked = entry('a', 100);
  expect(Math.round(startsOf([asked], [...older, asked], { runMsOfB: 3_000 })[0]! / 1_000)).toBe(30);
});

it('requests of a higher priority count even if they came later, and those of a lower priority never count', () => {
  const asked = entry('a', 10);
  const [urgent, idle] = [-1, 1].map((priority) =>
    Array.from({ length: 20 }, (_, at) => entry('b', at + 20, priority)),
  );
  const [before] = startsOf([asked], [asked]);
  expect(startsOf([asked], [asked, ...idle!])[0]).toBe(before);
  expect(Math.round(startsOf([asked], [asked, ...urgent!])[0]! / 1_000)).toBe(10);
});

describe('in a group whose models stay', () => {
  beforeEach(() => jest.useFakeTimers({ now: 0 }));
  afterEach(() => {
    jest.useRealTimers();
    group.stayMs = 0;
  });
  const asked = entry('a', 100);
  const later = (count: number): EntryChange[] =>
    Array.from({ length: count }, (_, at) => entry('b', at + 101));
  const startS = (waiting: EntryChange[], turnOf?: string): number =>
    Math.round(startsOf([asked], [asked, ...waiting], turnOf === undefined ? {} : { turnOf })[0]! / 1_000);

  it('requests that came later count, while the turn of their model lasts', () => {
    expect(startS(later(40), 'b')).toBe(0);
    group.stayMs = 10_000;
    expect([startS(later(40)), startS(later(40), 'a'), startS(later(40), 'b')]).toEqual([0, 0, 10]);
    expect(startS(later(6), 'b')).toBe(3);
    group.stayMs = 100_000;
    expect(startS(later(40), 'b')).toBe(20);
  });

  it('requests that came later count if an older request begins a turn of their model', () => {
    const oldest = entry('b', 99);
    expect(startS([oldest, ...later(40)])).toBe(1);
    group.stayMs = 10_000;
    expect(startS([oldest, ...later(40)])).toBe(10);
  });

  it('requests of a lower priority do not count', () => {
    group.stayMs = 10_000;
    const idle = later(40).map((one) => ({ ...one, priority: 1 }));
    expect(startS(idle, 'b')).toBe(0);
  });
});

it('reserved slots do not count for a request that may not use them', () => {
  const starts = [-1, 0, 1].map((priority) => {
    const waiting = Array.from({ length: 40 }, (_, at) => entry('reserving', at + 1, priority));
    return Math.floor(startsOf([waiting[39]!], waiting)[0]! / 1_000);
  });
  expect(starts).toEqual([9, 13, 39]);
});
