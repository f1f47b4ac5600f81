import { reopened } from './reopened.js';
import { silenceMs, type Transport } from './transport.js';
import type { OutputOptions, Result } from './types.js';

type Growing = Pick<OutputOptions, 'onReset' | 'signal'> & { requestId: string };

/**
 * Yields each part of a streamed output once and in order. `result` is called for an output that has no parts or cannot
 * be streamed.
 */
export async function* growing<Delta>(
  transport: Transport,
  { requestId, onReset, signal }: Growing,
  result: () => Promise<Result<Delta>>,
): AsyncGenerator<Delta, void, void> {
  const path = ['queue', 'requests', requestId, 'output', 'stream'];
  // A model may take long before its first token. The service sends a comment every 15 s.
  const call = { path, signal, requestId, firstMs: silenceMs };
  const tries = { failed: 0 };
  let hasBegun = false;
  for await (const { name, data } of reopened(transport, call, tries)) {
    tries.failed = 0;
    const { delta, attempt, success } = JSON.parse(data) as {
      delta: Delta;
      attempt: number;
      success: boolean;
    };
    if (name === 'done' && success) return;
    if (name === 'done') break;
    if (name === 'reset') onReset?.(attempt);
    hasBegun ||= name === 'output';
    if (name === 'output') yield delta;
  }
  const { output, status } = await result();
  if (hasBegun) onReset?.(status.attempt);
  yield output;
}
