import { setTimeout as delay } from 'node:timers/promises';

export interface UntilOptions {
  /** What is waited for, as a sentence for the failure. */
  message?: string;
  timeoutMs?: number;
  /** Called once when the wait has failed. */
  explain?: () => unknown;
}

/** Half of the time that a test may take, so that the failure still says what was waited for. */
export const patienceMs = Number(process.env['TEST_TIMEOUT'] ?? 30_000) / 2;

type Falsy = undefined | null | false | 0 | '';

/** Waits until `check` returns a truthy value, and returns that. A check that throws counts as "not yet". */
export async function until<T>(
  check: () => Promise<T> | T,
  { message = check.toString(), timeoutMs = patienceMs, explain }: UntilOptions = {},
): Promise<Exclude<Awaited<T>, Falsy>> {
  const deadline = performance.now() + timeoutMs;
  let seen: unknown;
  for (let pauseMs = 2; ; pauseMs = Math.min(pauseMs * 1.5, 100)) {
    try {
      const value = await check();
      if (value) return value as Exclude<Awaited<T>, Falsy>;
      seen = value;
    } catch (error) {
      seen = error;
    }
    if (performance.now() > deadline) break;
    await delay(pauseMs);
  }
  const found = explain === undefined ? seen : await explain();
  throw new Error(`Waited ${timeoutMs} ms in vain for: ${message}\nLast seen: ${describe(found)}`, {
    cause: seen instanceof Error ? seen : undefined,
  });
}

function describe(value: unknown): string {
  return value instanceof Error ? value.message : (JSON.stringify(value) ?? String(value));
}
