import type { JsonThreads } from '../../json/json-threads.js';
import { type OpenAiAnswer, type OpenAiAsks, openAiTexts } from '../../json/openai-answers.js';
import type { ResponseHead } from '../../json/responses.js';
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
function stateOf({ state, outcome }: Pick<RequestRow, 'state' | 'outcome'>): string {
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

/** The threads that read large outputs, and the caller whose turn they use. */
export interface Readers {
  threads: JsonThreads;
  caller: string;
}

/** Returns the texts of an answer that is made of the output of a model. A thread reads a large output. */
export async function answerTexts<Name extends OpenAiAnswer>(
  name: Name,
  ask: OpenAiAsks[Name],
  output: string,
  { threads, caller }: Readers,
): Promise<string[]> {
  if (output.length <= maxInlineBytes) return openAiTexts(name, ask, output);
  const options = { caller, isAccepted: true };
  const [{ texts }] = await threads.run('openAi', { name, ask }, Buffer.from(output), options);
  return texts;
}

/** Like `answerTexts`, for an answer that is one text. */
export async function answerText<Name extends 'response' | 'embeddings' | 'embeddedImages'>(
  name: Name,
  ask: OpenAiAsks[Name],
  output: string,
  readers: Readers,
): Promise<string> {
  return (await answerTexts(name, ask, output, readers))[0]!;
}

function errorOf({ error, outcome }: ResponseRow): object | null {
  if (error === null || outcome === 'cancelled') return null;
  const { code, message } = toOpenAiError(error).error as Partial<OpenAiError>;
  return { code: code ?? 'server_error', message: message ?? error.message };
}
