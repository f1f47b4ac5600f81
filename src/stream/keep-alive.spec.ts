import type { MessageEvent } from '@nestjs/common';
import type { Response } from 'express';
import { NEVER, Subject, of } from 'rxjs';
import { keepAlive } from './keep-alive.js';

/** Runs `scenario` with mocked timers, where a minute passes at once. */
function inVirtualTime(scenario: (pass: (ms: number, then: () => void) => void) => void): void {
  jest.useFakeTimers();
  try {
    scenario((ms, then) => setTimeout(then, ms));
    jest.advanceTimersByTime(700_000);
    expect(jest.getTimerCount()).toBe(0);
  } finally {
    jest.useRealTimers();
  }
}

function client(): Response & { writableNeedDrain: boolean; destroyed: boolean } {
  const reader = { writableNeedDrain: false, destroyed: false, destroy: () => (reader.destroyed = true) };
  return reader as unknown as ReturnType<typeof client>;
}

it('passes messages on at once and ends with them', () => {
  const seen: MessageEvent[] = [];
  let ended = false;
  of({ id: '1', data: 'x' })
    .pipe(keepAlive(client()))
    .subscribe({ next: (message) => seen.push(message), complete: () => (ended = true) });
  expect(seen).toEqual([{ id: '1', data: 'x' }]);
  expect(ended).toBe(true);
});

it('sends a comment every 15 seconds, and none once it is over', () => {
  const seen: MessageEvent[] = [];
  inVirtualTime((pass) => {
    const stream = NEVER.pipe(keepAlive(client())).subscribe((message) => seen.push(message));
    pass(14_900, () => expect(seen).toEqual([]));
    pass(46_000, () => {
      expect(seen).toEqual([{ comment: 'keep-alive' }, { comment: 'keep-alive' }, { comment: 'keep-alive' }]);
      stream.unsubscribe();
    });
    pass(120_000, () => expect(seen).toHaveLength(3));
  });
});

it('stops with the stream that it keeps alive', () => {
  const seen: MessageEvent[] = [];
  inVirtualTime((pass) => {
    const messages = new Subject<MessageEvent>();
    messages.pipe(keepAlive(client())).subscribe((message) => seen.push(message));
    pass(16_000, () => messages.complete());
    pass(120_000, () => expect(seen).toHaveLength(1));
  });
});

it('neither drops a client that reads slowly nor sends it comments, until it has read what was sent', () => {
  const seen: MessageEvent[] = [];
  const reader = client();
  reader.writableNeedDrain = true;
  inVirtualTime((pass) => {
    const stream = NEVER.pipe(keepAlive(reader)).subscribe((message) => seen.push(message));
    pass(601_000, () => {
      expect([reader.destroyed, seen]).toEqual([false, []]);
      reader.writableNeedDrain = false;
    });
    pass(616_000, () => {
      expect(seen).toEqual([{ comment: 'keep-alive' }]);
      stream.unsubscribe();
    });
  });
});

it('spreads the comments of streams that opened at once over 15 seconds', () => {
  const sent = Array.from({ length: 3_000 }, (): number[] => []);
  let openedAt = 0;
  inVirtualTime((pass) => {
    openedAt = Date.now();
    const streams = sent.map((times) =>
      NEVER.pipe(keepAlive(client())).subscribe(() => times.push(Date.now())),
    );
    pass(46_000, () => streams.forEach((stream) => stream.unsubscribe()));
  });
  const perStep = new Map<number, number>();
  for (const time of sent.flat()) perStep.set(time, (perStep.get(time) ?? 0) + 1);
  expect(Math.max(...perStep.values())).toBeLessThanOrEqual(40);
  expect(Math.max(...sent.map(([first = Infinity]) => first - openedAt))).toBe(15_000);
  const pauses = sent.flatMap(([first = 0, second = 0, third = 0]) => [second - first, third - second]);
  expect(new Set(pauses)).toEqual(new Set([15_000]));
});

it('sends a comment every 15 seconds also in a busy process, whose timers are late', () => {
  const times: number[] = [];
  inVirtualTime((pass) => {
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => Date.now() * 2);
    const stream = NEVER.pipe(keepAlive(client())).subscribe(() => times.push(performance.now()));
    pass(46_000, () => {
      stream.unsubscribe();
      clock.mockRestore();
    });
  });
  const pauses = times.slice(1).map((time, at) => time - times[at]!);
  expect(pauses).toEqual(Array(5).fill(15_000));
});
