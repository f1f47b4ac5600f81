import { isTooSlow, Progress, shippedPace } from './progress.js';

const second = 1_000;

/** Returns whether a client that moves `rate` bytes a second is too slow at any time within `seconds`. */
function isEverTooSlow(rate: (at: number) => number, seconds: number): boolean {
  const progress = new Progress();
  let bytes = 0;
  for (let at = 0; at <= seconds; at++) {
    progress.move(bytes, at * second);
    if (isTooSlow(progress, at * second, shippedPace)) return true;
    bytes += rate(at);
  }
  return false;
}

describe('a direction of a connection', () => {
  it('is served at 20 KiB a second for an hour', () => {
    expect(isEverTooSlow(() => 20 * 1024, 3_600)).toBe(false);
  });

  it('is too slow at 1 KiB a second, but not in its first ten seconds', () => {
    expect(isEverTooSlow(() => 1024, 10)).toBe(false);
    expect(isEverTooSlow(() => 1024, 12)).toBe(true);
  });

  it('is served though it stops for 20 s, if it was fast before', () => {
    expect(isEverTooSlow((at) => (at < 10 ? 1024 ** 2 : at < 30 ? 0 : 100 * 1024), 60)).toBe(false);
  });

  it('is too slow after 30 s without a byte, however fast it was before', () => {
    expect(isEverTooSlow((at) => (at < 10 ? 1024 ** 3 : 0), 41)).toBe(true);
  });

  it('is measured from the beginning again at the next wait', () => {
    const progress = new Progress();
    progress.move(0, 0);
    progress.end();
    progress.move(0, 100 * second);
    expect(isTooSlow(progress, 109 * second, shippedPace)).toBe(false);
  });

  it('stays too slow only if it moves nothing until the next check', () => {
    const moving = new Progress();
    moving.move(0, 0);
    expect(moving.staysTooSlow(31 * second, shippedPace)).toBe(false);
    moving.move(1024 ** 2, 33 * second);
    expect(moving.staysTooSlow(33 * second, shippedPace)).toBe(false);
    const silent = new Progress();
    silent.move(0, 0);
    expect([31, 33].map((at) => silent.staysTooSlow(at * second, shippedPace))).toEqual([false, true]);
  });
});
