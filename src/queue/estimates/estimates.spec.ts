import { EventEmitter2 } from '@nestjs/event-emitter';
import { Subject } from 'rxjs';
import type { Clock } from '../../database/clock.js';
import type { ModelsService } from '../../models/models.service.js';
import { QueueEvents } from '../queue-events.js';
import { type EntryChange, WaitingIndex } from '../waiting/waiting-index.js';
import { Estimates } from './estimates.js';

const group = { id: 'gpu-0', concurrency: 2, stayMs: 0 };
const all = [
  { id: 'a', concurrency: 2, group },
  { id: 'b', concurrency: 2, group },
  { id: 'alone', concurrency: 2, group: null },
];
const models = {
  changes: new Subject<void>(),
  all: () => all,
  get: (id: string) => all.find((model) => model.id === id),
  membersOf: () => all.filter((model) => model.group === group),
} as unknown as ModelsService;

const entry = (modelId: string, seq: number, priority = 0): EntryChange => ({
  ...{ modelId, priority, start: 0, seq, attempt: 0 },
});

/** Estimates the starts of the requests of `asked` if runs of `a` and `alone` take 1 s, those of `b` `runMsOfB`. */
function startsOf(asked: EntryChange[], waiting: EntryChange[], runMsOfB = 1_000): number[] {
  const [index, events] = [new WaitingIndex(), new QueueEvents(new EventEmitter2())];
  const clock = { now: () => 0 } as Clock;
  const estimates = new Estimates(models, index, clock, events);
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

it('they count by how long their runs take', () => {
  const asked = entry('a', 100);
  expect(Math.round(startsOf([asked], [...older, asked], 3_000)[0]! / 1_000)).toBe(30);
});

it('a higher priority counts whenever it came, a lower never', () => {
  const asked = entry('a', 10);
  const [urgent, idle] = [-1, 1].map((priority) =>
    Array.from({ length: 20 }, (_, at) => entry('b', at + 20, priority)),
  );
  const [before] = startsOf([asked], [asked]);
  expect(startsOf([asked], [asked, ...idle!])[0]).toBe(before);
  expect(Math.round(startsOf([asked], [asked, ...urgent!])[0]! / 1_000)).toBe(10);
});
