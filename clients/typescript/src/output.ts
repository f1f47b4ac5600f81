import { type Followed, holdSeconds, polled, Seen, spells } from './follow.js';
import { type Link, reopened } from './reopened.js';
import { jsonOfEvent, silenceMs, type Transport } from './transport.js';
import type { OutputOptions, Result } from './types.js';

type Growing = Pick<OutputOptions, 'onReset' | 'signal'> & { requestId: string };

/**
 * Yields each part of a streamed output once and in order. `result` is called for an output that has no parts, or whose
 * stream could not be opened before the request completed.
 */
export async function* growing<Delta>(
  transport: Transport,
  { requestId, onReset, signal }: Growing,
  result: () => Promise<Result<Delta>>,
): AsyncGenerator<Delta, void, void> {
  const path = ['queue', 'requests', requestId, 'output', 'stream'];
  // A model may take long before its first token. The service sends a comment every 15 s.
  const call = { path, signal, requestId, firstMs: silenceMs };
  const link: Link = { failed: 0, isProven: false };
  const seen = new Seen();
  let hasBegun = false;
  let hasEnded = false;
  for (const forMs of spells()) {
    link.failed = 0;
    for await (const { name, data } of reopened(transport, call, link)) {
      link.failed = 0;
      const { delta, attempt, success } = jsonOfEvent(data) as {
        delta: Delta;
        attempt: number;
        success: boolean;
      };
      if (name === 'done' && success) return;
      hasEnded = name === 'done';
      if (hasEnded) break;
      if (name === 'reset') onReset?.(attempt);
      hasBegun ||= name === 'output';
      if (name === 'output') yield delta;
    }
    seen.hasAnswer ||= link.isProven;
    if (hasEnded || (await completes(transport, { requestId, signal }, forMs, seen))) break;
  }
  const { output, status } = await result();
  if (hasBegun) onReset?.(status.attempt);
  yield output;
}

/** Returns whether the request completes within this time. */
async function completes(
  transport: Transport,
  followed: Followed,
  forMs: number,
  seen: Seen,
): Promise<boolean> {
  for await (const _ of polled(transport, followed, { hold: holdSeconds, forMs }, seen));
  return seen.hasCompleted;
}
