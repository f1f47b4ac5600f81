import { isObject, type JsonObject } from './assemblers.js';

/** The members of a response that its request decides. They replace the model's, which may have used another id. */
export interface ResponseHead {
  id: string;
  object: 'response';
  created_at: number;
  completed_at?: number;
  background: boolean;
  status: string;
  error: object | null;
  /** The model, unless the output names it. null: only the output can name it. */
  model: string | null;
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

/** Returns a response of OpenAI's API. `output`: that of the model. undefined: there is none yet. */
export function responseOf({ model, ...head }: ResponseHead, output?: unknown): JsonObject {
  const said = isObject(output) && output['object'] === 'response' ? output : {};
  const isIncomplete = head.status === 'completed' && said['status'] === 'incomplete';
  return {
    model,
    ...unsaid,
    output: output === undefined ? [] : itemsOf(output, head.id),
    ...said,
    ...head,
    ...(isIncomplete && { status: 'incomplete' }),
  };
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
