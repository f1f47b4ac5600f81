import { setTimeout as delay } from 'node:timers/promises';
import { type Run, RunFailure } from '../../queue/runs/runner.js';

/** As the model's input schema has checked it. */
interface FlakyInput {
  fail_attempts?: number;
  status?: number;
  message?: string;
  delay_ms?: number;
  retry_after?: number;
  crash?: boolean;
}

const tryAgain = new Set([408, 425, 429, 500, 502, 503, 504]);

/** Fails the first `fail_attempts` attempts as an http model would that answers `status`; then succeeds. */
export async function runFlaky(run: Run): Promise<string> {
  const { attempt, signal } = run;
  const {
    fail_attempts = 1,
    status = 503,
    message,
    delay_ms = 0,
    retry_after,
    crash = false,
  } = parse(run.input);
  run.log('INFO', `Attempt ${attempt}; the first ${fail_attempts} fail.`);
  await delay(delay_ms, undefined, { signal });
  if (attempt > fail_attempts) return JSON.stringify({ ok: true, attempts: attempt });
  if (crash) throw new Error('the demo broke, as its input asked');
  const retryable = tryAgain.has(status);
  throw new RunFailure(message ?? `The model answered ${status}.`, {
    code: status >= 502 && status <= 504 ? 'model_unavailable' : 'model_error',
    retryable,
    ...(status < 500 && !retryable && { status }),
    ...(status < 500 && { details: { message: message ?? 'refused, as the input asked', attempt } }),
    ...(retryable && retry_after !== undefined && { retryAfterMs: retry_after * 1_000 }),
  });
}

function parse(input: string): FlakyInput {
  return JSON.parse(input) as FlakyInput;
}
