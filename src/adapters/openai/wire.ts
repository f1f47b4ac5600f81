import type { JsonThreads } from '../../json/json-threads.js';
import { type ResponseHead, responseText, type SentPart } from '../../json/responses.js';
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

/**
 * Returns the JSON text of a response that has completed, or the rest of its stream, like `responseText`. A thread reads
 * a large output.
 */
export async function readResponse(
  head: ResponseHead,
  output: string,
  { threads, caller, sent }: { threads: JsonThreads; caller: string; sent?: SentPart },
): Promise<string> {
  if (output.length <= maxInlineBytes) return responseText(head, output, sent);
  const options = { caller, isAccepted: true };
  const [, text] = await threads.run('response', { head, sent }, Buffer.from(output), options);
  return text.toString();
}

function errorOf({ error, outcome }: ResponseRow): object | null {
  if (error === null || outcome === 'cancelled') return null;
  const { code, message } = toOpenAiError(error).error as Partial<OpenAiError>;
  return { code: code ?? 'server_error', message: message ?? error.message };
}
