import { Clock } from '../../database/clock.js';
import { RequestIds } from './request-id.js';

const timeOf = (id: string): number => Number.parseInt(id.replace('-', '').slice(0, 12), 16);

it('makes ids with times that ignore a small step back of the clock, but follow a large one', () => {
  const clock = new Clock();
  const ids = new RequestIds(clock);
  const nextAt = (ms: number): number => {
    clock.set(ms, performance.now());
    return timeOf(ids.next());
  };
  const first = nextAt(5_000_000);
  expect(nextAt(4_999_992)).toBe(first);
  expect(nextAt(5_000_100)).toBeGreaterThan(first);
  expect(nextAt(4_000_000)).toBeLessThan(first);
});
