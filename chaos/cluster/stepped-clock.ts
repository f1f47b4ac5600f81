import { existsSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { now, sleep } from '../clock.js';

const secondMs = 1_000;
/**
 * libfaketime reads the file once in a second. A step is written at the end of one, so that all processes have it at the
 * begin of the next, or a moment before.
 */
const end = { fromMs: 930, toMs: 980 };

interface Step {
  /** On the clock of `now`. */
  at: number;
  offsetMs: number;
}

/** The clock of the processes that get `environment`, ahead of or behind the machine's by libfaketime. */
export class SteppedClock {
  private readonly steps: [Step, ...Step[]];

  constructor(
    private readonly file: string,
    offsetMs = 0,
  ) {
    this.steps = [{ at: -Infinity, offsetMs }];
    this.write();
  }

  get offsetMs(): number {
    return this.steps.at(-1)!.offsetMs;
  }

  /** `threads`: the process has several threads, as Node has. */
  environment(threads: boolean): Record<string, string> {
    return {
      LD_PRELOAD: libraryOf(threads ? 'libfaketimeMT.so.1' : 'libfaketime.so.1'),
      FAKETIME_TIMESTAMP_FILE: this.file,
      FAKETIME_CACHE_DURATION: '0',
      // Both names are in use. Timers and performance.now() stay right, as they do if a real clock is set.
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      DONT_FAKE_MONOTONIC: '1',
      NO_FAKE_STAT: '1',
    };
  }

  /** Resolves when every process has the new time. */
  async step(byMs: number): Promise<void> {
    for (let ms = Date.now() % secondMs; ms < end.fromMs || ms > end.toMs; ms = Date.now() % secondMs)
      await sleep(ms < end.fromMs ? end.fromMs - ms : secondMs - ms);
    const at = now() + secondMs - (Date.now() % secondMs);
    this.steps.push({ at, offsetMs: this.offsetMs + byMs });
    this.write();
    await sleep(at - now() + 50);
  }

  /**
   * Returns the time of `now` at which this clock showed `ms`, counted from the time at which `now` was 0. It is the only
   * one if steps go to times that the clock did not show before.
   */
  toRunTime(ms: number): number {
    const times = this.steps.map(({ at, offsetMs }, i) => {
      const time = ms - offsetMs;
      return { time, beside: Math.max(0, at - time, time - (this.steps[i + 1]?.at ?? Infinity)) };
    });
    return times.reduce((best, one) => (one.beside < best.beside ? one : best)).time;
  }

  private write(): void {
    const offset = Math.round(this.offsetMs / secondMs);
    writeFileSync(`${this.file}.new`, `${offset < 0 ? '' : '+'}${offset}\n`, { mode: 0o644 });
    renameSync(`${this.file}.new`, this.file);
  }
}

function libraryOf(name: string): string {
  const folders = existsSync('/usr/lib') ? ['', ...readdirSync('/usr/lib')] : [];
  const found = folders.map((folder) => join('/usr/lib', folder, 'faketime', name)).find(existsSync);
  if (found === undefined) throw new Error('libfaketime is not installed (Debian package faketime)');
  return found;
}
