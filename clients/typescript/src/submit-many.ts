import { isTurnedAway, mayPass, NowServingError } from './errors.js';
import { type Call, secondsOf, type Transport } from './transport.js';
import type { SubmitResult } from './types.js';

/**
 * Submits the entries in one call, and sends those again that were refused but may be accepted later. Returns a result
 * for each entry, in their order. After the first answer it never rejects, because the caller needs the ids.
 */
export async function submitAll(
  transport: Transport,
  entries: readonly object[],
  signal: AbortSignal | undefined,
): Promise<SubmitResult[]> {
  const results: SubmitResult[] = [];
  let pending = [...entries.keys()];
  for (let failed = 0; ;) {
    const requests = pending.map((i) => entries[i]);
    const call: Call = { method: 'POST', path: ['queue', 'requests'], body: { requests }, signal };
    let retryAfter: number | undefined;
    try {
      const { headers, body } = await transport.send<{ results: SubmitResult[] }>(call);
      retryAfter = secondsOf(headers.get('retry-after'));
      for (const [n, result] of body.results.entries()) results[pending[n]!] = result;
    } catch (error) {
      if (results.length === 0 || !(error instanceof NowServingError)) throw error;
      const { status = 0, code, detail } = error;
      for (const i of pending) results[i] = { status, code, detail };
      return results;
    }
    const refusals = pending.flatMap((i) => refusalOf(i, results[i]!, retryAfter));
    if (refusals.length === 0) return results;
    const refusal = refusals.find(({ error }) => isTurnedAway(error)) ?? refusals[0]!;
    pending = refusals.map(({ i }) => i);
    try {
      failed = await transport.again(refusal.error, failed, call);
    } catch {
      return results; // no tries are left, or the signal fired
    }
  }
}

/** Empty: the entry was accepted, or another try would not help. */
function refusalOf(i: number, result: SubmitResult, retryAfter: number | undefined) {
  if (result.request_id !== undefined) return [];
  const { status, code, detail } = result;
  const error = new NowServingError(code, detail, { status, retryAfter });
  return mayPass(error) ? [{ i, error }] : [];
}
