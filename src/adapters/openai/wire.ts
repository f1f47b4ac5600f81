import type { JsonThreads } from '../../json/json-threads.js';
import { type ResponseHead, responseOf } from '../../json/responses.js';
import { maxInlineBytes } from '../../models/input-schemas.js';
import type { RequestRow } from '../../queue/reads/status-row.js';
import { type OpenAiError, toOpenAiError } from './openai-error.js';

const endings = {
  succeeded: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
  expired: 'failed',
} as const;

/** The states of a response in background. */
export function stateOf({ state, outcome }: Pick<RequestRow, 'state' | 'outcome'>): string {
  if (state === 'IN_QUEUE') return 'queued';
  return outcome === null ? 'in_progress' : endings[outcome];
}

/** The part of a request that its response shows. */
type ResponseRow = Pick<
  RequestRow,
  'id' | 'state' | 'outcome' | 'error' | 'createdAtMs' | 'completedAtMs'
> & {
  /** null: only the output of the model names it. */
  modelId: string | null;
};

/** Returns the members of a response that its request decides. */
export function responseHead(row: ResponseRow, isBackground = true): ResponseHead {
  return {
    model: row.modelId,
    id: row.id,
    object: 'response',
    created_at: Math.floor(row.createdAtMs / 1_000),
    ...(row.completedAtMs !== null && { completed_at: Math.floor(row.completedAtMs / 1_000) }),
    background: isBackground,
    status: stateOf(row),
    error: errorOf(row),
  };
}

/** Returns a succeeded request as the JSON text of its response. A thread reads a large output. */
export async function responseText(
  head: ResponseHead,
  output: string,
  threads: JsonThreads,
  caller: string,
): Promise<string> {
  if (output.length <= maxInlineBytes) return JSON.stringify(responseOf(head, JSON.parse(output)));
  const [, text] = await threads.run('response', { head }, Buffer.from(output), { caller, isAccepted: true });
  return text.toString();
}

function errorOf({ error, outcome }: ResponseRow): object | null {
  if (error === null || outcome === 'cancelled') return null;
  const { code, message } = toOpenAiError(error).error as Partial<OpenAiError>;
  return { code: code ?? 'server_error', message: message ?? error.message };
}
