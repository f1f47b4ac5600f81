import type { RequestEvent } from '../api/types';
import { layTimeline, spansOf, ticksOf, timeAt, xOf } from './timeline';

const start = Date.parse('2026-03-01T14:00:00Z');
const at = (seconds: number): string => new Date(start + seconds * 1_000).toISOString();
let id = 0;
const event = (
  seconds: number,
  kind: RequestEvent['kind'],
  more: Partial<RequestEvent> = {},
): RequestEvent => ({
  id: (id += 1),
  at: at(seconds),
  kind,
  attempt: 0,
  node: null,
  outcome: null,
  code: null,
  message: null,
  ended_at: null,
  until: null,
  ...more,
});

/** Lost with alpha after 12 s, rescued, failed on beta, failed again after a pause. */
const eventful = [
  event(0, 'submitted'),
  event(41, 'started', { attempt: 1, node: 'alpha' }),
  event(61, 'requeued', { attempt: 1, node: 'alpha', outcome: 'lost', ended_at: at(53) }),
  event(62, 'started', { attempt: 2, node: 'beta' }),
  event(70, 'requeued', { attempt: 2, node: 'beta', outcome: 'failed', code: 'model_error', until: at(78) }),
  event(80, 'started', { attempt: 3, node: 'beta' }),
  event(86, 'completed', {
    attempt: 3,
    node: 'beta',
    outcome: 'failed',
    code: 'model_error',
    message: 'CUDA',
  }),
];
const said = (events: RequestEvent[], now: number): string[] =>
  spansOf(events, start + now * 1_000).map(
    ({ lane, kind, from, to, end }) =>
      `${lane} ${kind} ${(from - start) / 1_000}–${(to - start) / 1_000} ${end}`,
  );

test('a life is waited, ran, lost, rescued, backed off and ran, each in the lane of its node', () => {
  expect(said(eventful, 1_000)).toEqual([
    'alpha wait 0–41 goes-on',
    'alpha run 41–53 lost',
    'beta rescue 53–61 goes-on',
    'beta wait 61–62 goes-on',
    'beta run 62–70 failed',
    'beta backoff 70–78 goes-on',
    'beta wait 78–80 goes-on',
    'beta run 80–86 failed',
  ]);
});

test('a pause that is over goes on to the next start, as its end is not kept', () => {
  const events = eventful.map((one) => ({ ...one, until: null }));
  expect(said(events, 1_000).slice(5, 7)).toEqual(['beta backoff 70–80 goes-on', 'beta run 80–86 failed']);
});

test('what goes on is open until now', () => {
  expect(said(eventful.slice(0, 1), 9)).toEqual(['queue wait 0–9 open']);
  expect(said(eventful.slice(0, 2), 50)).toEqual(['alpha wait 0–41 goes-on', 'alpha run 41–50 open']);
  expect(said(eventful.slice(0, 5), 72).at(-1)).toBe('queue backoff 70–72 open');
});

test('what ends in the queue says how', () => {
  const cancelled = [event(0, 'submitted'), event(5, 'completed', { outcome: 'cancelled' })];
  expect(said(cancelled, 9)).toEqual(['queue wait 0–5 cancelled']);
  expect(said([], 9)).toEqual([]);
});

test('spans follow each other over the whole width, and the lanes are in the order of the story', () => {
  const { lanes } = layTimeline({ data: eventful, positions: [] }, start);
  expect(lanes.map(({ name }) => name)).toEqual(['alpha', 'beta']);
  const spans = lanes.flatMap((lane) => lane.spans).sort((a, b) => a.x - b.x);
  expect(spans[0]!.x).toBe(0);
  for (const [i, span] of spans.slice(1).entries()) expect(span.x).toBeCloseTo(spans[i]!.x + spans[i]!.width);
  expect(spans.at(-1)!.x + spans.at(-1)!.width).toBeCloseTo(1);
  expect(Math.min(...spans.map(({ width }) => width))).toBeGreaterThan(0.01);
});

test('long idle time is folded, short is not, and a run never is', () => {
  const patient = [
    event(0, 'submitted'),
    event(3_600, 'started', { attempt: 1, node: 'alpha' }),
    event(3_604, 'completed', { attempt: 1, node: 'alpha', outcome: 'succeeded' }),
  ];
  const { stretches } = layTimeline({ data: patient, positions: [] }, start);
  expect(stretches.map(({ isFolded }) => isFolded)).toEqual([true, false]);
  expect(stretches[0]!.width).toBeLessThan(0.13);
  const long = [
    event(0, 'submitted'),
    event(1, 'started', { node: 'a' }),
    event(4_000, 'completed', { node: 'a' }),
  ];
  expect(layTimeline({ data: long, positions: [] }, start).stretches.some(({ isFolded }) => isFolded)).toBe(
    false,
  );
  // Only waiting has happened, so folding it would make no room for anything.
  expect(
    layTimeline({ data: [event(0, 'submitted')], positions: [] }, start + 3_600_000).stretches[0]!.isFolded,
  ).toBe(false);
});

test('a place on the line is a time, and back', () => {
  const { stretches } = layTimeline({ data: eventful, positions: [] }, start);
  for (const seconds of [0, 20, 41, 55, 79, 86]) {
    const ms = start + seconds * 1_000;
    expect(timeAt(stretches, xOf(stretches, ms))).toBeCloseTo(ms, -1);
  }
  expect(timeAt([], 0.5)).toBeUndefined();
});

test('ticks keep their distance and name both ends', () => {
  const { stretches } = layTimeline({ data: eventful, positions: [] }, start);
  expect(ticksOf(stretches, 0.9)).toHaveLength(2);
  const ticks = ticksOf(stretches, 0.08);
  expect([ticks[0]!.at, ticks.at(-1)!.at]).toEqual([start, start + 86_000]);
  for (const [i, tick] of ticks.slice(1).entries()) expect(tick.x - ticks[i]!.x).toBeGreaterThan(0.08);
});

test('positions are steps between the front and the highest', () => {
  const positions = [
    { at: at(0), position: 38 },
    { at: at(20), position: 19 },
    { at: at(41), position: 0 },
  ];
  const { steps, highest } = layTimeline({ data: eventful, positions }, start);
  expect(highest).toBe(38);
  expect(steps.map(({ y }) => y)).toEqual([1, 0.5, 0]);
  // Positions recorded for a later start are counted from the first one, and end there.
  const later = [
    ...positions.map((point) => ({ ...point, position: point.position + 4 })),
    { at: at(60), position: 2 },
  ];
  expect(
    layTimeline({ data: eventful, positions: later }, start).steps.map(({ position }) => position),
  ).toEqual([38, 19, 0]);
});
