import { setTimeout as delay } from 'node:timers/promises';

const everyMs = 50;

/** Waits until `check` returns something true, and returns that. */
export async function until(what, timeoutMs, check) {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const found = await check();
    if (found) return found;
    if (performance.now() > deadline) throw new Error(`Not within ${timeoutMs / 1_000} s: ${what}`);
    await delay(everyMs);
  }
}
