import { addressRefused } from '../addresses/address-rule.js';
import { readBeginning } from '../outgoing/answer-body.js';
import { CallFailure } from '../outgoing/call-failure.js';
import { type Call, Outgoing } from '../outgoing/outgoing.js';
import { storable } from '../tools/storable-text.js';
import type { Answer } from './retry-plan.js';

/** Bytes of an answer that are kept. */
const keptBytes = 1_024;

/** Either a status and the beginning of the body, or the reason why there is none. */
export interface PostResult extends Answer {
  body: string | null;
  error: string | null;
}

export const stopped = 'The node stopped.';

/** Sends webhooks. Receivers recognize a webhook that arrives twice by its id. */
export class Posts {
  private readonly outgoing = new Outgoing({ mayRepeat: true });
  private readonly underWay = new Set<AbortController>();
  private isStopped = false;

  /** Ends the calls under way, and lets none begin. */
  stop(): void {
    this.isStopped = true;
    for (const limit of this.underWay) limit.abort(stopped);
    this.outgoing.connections.close();
  }

  async post(call: Omit<Call, 'method' | 'signal'>, timeoutMs: number): Promise<PostResult> {
    if (this.isStopped) return noAnswer(stopped);
    const limit = new AbortController();
    const late = `No answer came within ${timeoutMs / 1_000} s.`;
    const timer = setTimeout(() => limit.abort(late), timeoutMs);
    this.underWay.add(limit);
    try {
      const post = { ...call, method: 'POST', signal: limit.signal };
      const { status, headers, body } = await this.outgoing.call(post);
      // The status decides, so the part of the body that came before the limit is enough.
      const beginning = await readBeginning(body, keptBytes);
      return {
        status,
        retryAfter: headers['retry-after'],
        body: storable(beginning.toString()),
        error: null,
      };
    } catch (error) {
      if (limit.signal.aborted) return noAnswer(String(limit.signal.reason));
      if (error instanceof CallFailure) return noAnswer(wordsOf(error));
      throw error;
    } finally {
      clearTimeout(timer);
      this.underWay.delete(limit);
    }
  }
}

export function noAnswer(error: string): PostResult {
  return { status: null, body: null, error };
}

function wordsOf({ code, codeWords }: CallFailure): string {
  if (code === addressRefused)
    return 'Its name has no address that webhooks may be sent to, unless the setting WEBHOOK_ALLOW names it.';
  if (/^(ENOTFOUND|ENODATA|EAI_\w+|ETIMEOUT|ESERVFAIL)$/.test(code ?? ''))
    return `Its name has no address${codeWords}.`;
  return `The connection could not be made, or broke${codeWords}.`;
}
