import { isObject } from '../../http/input/json-body.js';
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

/** Values of members that the output of the model leaves out. */
const unsaid = {
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  metadata: {},
  parallel_tool_calls: true,
  previous_response_id: null,
  temperature: null,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_p: null,
  truncation: 'disabled',
  usage: null,
};

/** The part of a request that its response shows. */
type ResponseRow = Pick<
  RequestRow,
  'id' | 'state' | 'outcome' | 'error' | 'createdAtMs' | 'completedAtMs'
> & {
  /** null: only the output of the model names it. */
  modelId: string | null;
};

/** Returns a request as a response. `output`: the model's, if the request has succeeded. */
export function toResponse(
  row: ResponseRow,
  { output, isBackground = true }: { output?: unknown; isBackground?: boolean } = {},
): object {
  const said: Readonly<Record<string, unknown>> =
    isObject(output) && output['object'] === 'response' ? output : {};
  return {
    model: row.modelId,
    ...unsaid,
    output: output === undefined ? [] : itemsOf(output, row.id),
    ...said,
    // These members replace the model's: it may have used another id, or have run in the foreground.
    id: row.id,
    object: 'response',
    created_at: Math.floor(row.createdAtMs / 1_000),
    ...(row.completedAtMs !== null && { completed_at: Math.floor(row.completedAtMs / 1_000) }),
    background: isBackground,
    status: row.outcome === 'succeeded' && said['status'] === 'incomplete' ? 'incomplete' : stateOf(row),
    error: errorOf(row),
  };
}

function errorOf({ error, outcome }: ResponseRow): object | null {
  if (error === null || outcome === 'cancelled') return null;
  const { code, message } = toOpenAiError(error).error as Partial<OpenAiError>;
  return { code: code ?? 'server_error', message: message ?? error.message };
}

/** Returns the output of a model as items of a response, also if the model speaks another form. */
function itemsOf(output: unknown, id: string): unknown[] {
  if (isObject(output) && Array.isArray(output['output'])) return output['output'] as unknown[];
  const text = textOf(output);
  const content = [{ type: 'output_text', text, annotations: [], logprobs: [] }];
  return [{ id: `msg_${id}`, type: 'message', status: 'completed', role: 'assistant', content }];
}

/** Returns the text of a chat's answer or of an output that is a text. For any other output, returns its JSON. */
function textOf(output: unknown): string {
  if (typeof output === 'string') return output;
  const [choice] =
    isObject(output) && Array.isArray(output['choices']) ? (output['choices'] as unknown[]) : [];
  if (isObject(choice)) {
    const message = isObject(choice['message']) ? choice['message']['content'] : choice['text'];
    if (typeof message === 'string') return message;
  }
  return JSON.stringify(output);
}
