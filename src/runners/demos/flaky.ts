import { setTimeout as delay } from 'node:timers/promises';
import type { Run } from '../../queue/runs/runner.js';
import { statusFailure } from '../http-failure.js';

/** Already checked against the model's input schema. */
interface FlakyInput {
  fail_attempts?: number;
  status?: number;
  message?: string;
  delay_ms?: number;
  retry_after?: number;
  crash?: boolean;
}

/** Fails the first `fail_attempts` attempts like an http model that answers `status`, then succeeds. */
export async function runFlaky(run: Run): Promise<string> {
  const { attempt, signal } = run;
  const input = JSON.parse(run.input) as FlakyInput;
  const { fail_attempts = 1, status = 503, message, delay_ms = 0, retry_after, crash } = input;
  run.log('INFO', `Attempt ${attempt}; the first ${fail_attempts} fail.`);
  await delay(delay_ms, undefined, { signal });
  if (attempt > fail_attempts) return JSON.stringify({ ok: true, attempts: attempt });
  if (crash === true) throw new Error('the demo broke, as its input asked');
  throw statusFailure(status, {
    message,
    details: { message: message ?? 'refused, as the input asked', attempt },
    retryAfterMs: retry_after === undefined ? undefined : retry_after * 1_000,
  });
}
