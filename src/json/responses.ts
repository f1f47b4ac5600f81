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
export function responseOf(
  { model, ...head }: ResponseHead,
  output?: unknown,
): JsonObject & { output: unknown[] } {
  const said = isObject(output) && output['object'] === 'response' ? output : saidByChat(output);
  const isIncomplete = head.status === 'completed' && said['status'] === 'incomplete';
  return {
    model,
    ...unsaid,
    ...said,
    output: output === undefined ? [] : itemsOf(output, head.id),
    ...head,
    ...(isIncomplete && { status: 'incomplete' }),
  };
}

/** What a response calls the reasons for which a chat ends early. */
const incompleteReasons: ReadonlyMap<unknown, string> = new Map([
  ['length', 'max_output_tokens'],
  ['content_filter', 'content_filter'],
]);

/** Returns the members of a response that the answer of a chat or of a completion has under other names. */
function saidByChat(output: unknown): JsonObject {
  const reason = incompleteReasons.get(firstChoice(output)?.['finish_reason']);
  const usage = usageOfChat(output);
  return {
    ...(reason !== undefined && { status: 'incomplete', incomplete_details: { reason } }),
    ...(usage !== undefined && { usage }),
  };
}

function usageOfChat(output: unknown): JsonObject | undefined {
  const usage = isObject(output) && isObject(output['usage']) ? output['usage'] : {};
  const { prompt_tokens: input, completion_tokens: made, total_tokens: total } = usage;
  if (typeof input !== 'number') return undefined;
  const detail = (of: string, name: string): unknown => {
    const details = usage[of];
    return (isObject(details) ? details[name] : undefined) ?? 0;
  };
  const output_tokens = typeof made === 'number' ? made : 0;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: detail('prompt_tokens_details', 'cached_tokens') },
    output_tokens,
    output_tokens_details: { reasoning_tokens: detail('completion_tokens_details', 'reasoning_tokens') },
    total_tokens: total ?? input + output_tokens,
  };
}

/**
 * Returns the JSON text of a response that has completed. `sent`: a part of it was sent as a stream, so the other events
 * are returned.
 */
export function responseTexts(head: ResponseHead, output: unknown, sent?: SentPart): string[] {
  if (sent === undefined) return [JSON.stringify(responseOf(head, output))];
  return lastEvents(head, output, sent).map((event) => JSON.stringify(event));
}

/** An item of a response whose beginning a stream has sent. */
export interface BegunItem {
  id: string;
  type: 'message' | 'function_call';
}

/** What a stream has sent of a response. */
export interface SentPart {
  /** The items, in the order in which they were sent. */
  begun: readonly BegunItem[];
  /** True: the events are those of the server. Only the last one is missing. */
  isOwn: boolean;
  /** The number of the next event. */
  next: number;
}

/** Returns the events that begin the stream of a response. `head`: that of a response in progress. */
export function firstEvents(head: ResponseHead): JsonObject[] {
  const response = responseOf(head);
  return ['response.created', 'response.in_progress'].map((type) => ({ type, response }));
}

/** Returns the events that a stream has not sent yet of a response that has completed. */
function lastEvents(head: ResponseHead, output: unknown, { begun, isOwn, next }: SentPart): JsonObject[] {
  const response = responseOf(head, output);
  const end = { type: `response.${String(response['status'])}`, response };
  if (isOwn) return numbered([end], next);
  const items = inOrderOf(begun, response.output);
  response.output = items;
  const { completed_at: _end, ...begunHead } = head;
  const first = next === 0 ? firstEvents({ ...begunHead, status: 'in_progress' }) : [];
  const rest = items.flatMap((item, index) => eventsOfItem(item, index, index < begun.length));
  return numbered([...first, ...rest, end], next);
}

export function numbered(events: readonly JsonObject[], next: number): JsonObject[] {
  return events.map(({ type, ...event }, i) => ({ type, sequence_number: next + i, ...event }));
}

/** Returns the events with which the text of a message begins. */
export function beginOfMessage(id: string, output_index: number): JsonObject[] {
  const message = messageOf(id, '');
  const [part] = message.content;
  const added = { ...message, status: 'in_progress', content: [] };
  return [
    { type: 'response.output_item.added', output_index, item: added },
    { type: 'response.content_part.added', item_id: id, output_index, content_index: 0, part },
  ];
}

/** Returns the items with those first that a stream has begun, under the ids that it has sent. */
function inOrderOf(begun: readonly BegunItem[], items: readonly unknown[]): JsonObject[] {
  const left = items.filter(isObject);
  const first = begun.flatMap(({ id, type }) => {
    const at = left.findIndex((item) => item['type'] === type);
    return at === -1 ? [] : left.splice(at, 1).map((item) => ({ ...item, id }));
  });
  return [...first, ...left];
}

/** `isBegun`: the item, and what it has of a text or of arguments, was sent. */
function eventsOfItem(item: JsonObject, output_index: number, isBegun: boolean): JsonObject[] {
  const at = { item_id: item['id'], output_index };
  const done = { type: 'response.output_item.done', output_index, item };
  const added = (beginning: object): JsonObject[] => {
    const begun = { ...item, ...beginning };
    return isBegun ? [] : [{ type: 'response.output_item.added', output_index, item: begun }];
  };
  if (item['type'] === 'message' && Array.isArray(item['content'])) {
    const parts = item['content'].filter(isObject);
    const events = parts.flatMap((part, content_index) =>
      eventsOfPart(part, { ...at, content_index }, isBegun && content_index === 0),
    );
    return [...added({ status: 'in_progress', content: [] }), ...events, done];
  }
  if (item['type'] !== 'function_call') return [...added({}), done];
  const { name, arguments: whole } = item;
  const type = 'response.function_call_arguments';
  const delta = isBegun ? [] : [{ type: `${type}.delta`, ...at, delta: whole }];
  const end = { type: `${type}.done`, ...at, name, arguments: whole };
  return [...added({ status: 'in_progress', arguments: '' }), ...delta, end, done];
}

/** The members of the parts of a message that are streamed. */
const streamed: Readonly<Record<string, { member: string; more: object }>> = {
  output_text: { member: 'text', more: { logprobs: [] } },
  refusal: { member: 'refusal', more: {} },
};

function eventsOfPart(part: JsonObject, at: object, isBegun: boolean): JsonObject[] {
  const { member, more } = streamed[String(part['type'])] ?? {};
  const beginning = member === undefined ? part : { ...part, [member]: '' };
  const added = isBegun ? [] : [{ type: 'response.content_part.added', ...at, part: beginning }];
  const done = { type: 'response.content_part.done', ...at, part };
  if (member === undefined) return [...added, done];
  const [type, whole] = [`response.${String(part['type'])}`, part[member]];
  const delta = isBegun || whole === '' ? [] : [{ type: `${type}.delta`, ...at, delta: whole, ...more }];
  return [...added, ...delta, { type: `${type}.done`, ...at, [member]: whole, ...more }, done];
}

/** Returns the output of a model as items of a response, also if the model speaks another form. */
function itemsOf(output: unknown, id: string): unknown[] {
  if (isObject(output) && isItems(output['output'])) return output['output'];
  const message = chatMessageIn(output);
  const calls = Array.isArray(message?.['tool_calls']) ? message['tool_calls'].filter(isObject) : [];
  const items = calls.map((call, index) => {
    const { name, arguments: whole } = isObject(call['function']) ? call['function'] : {};
    return { ...callOf(callItemId(id, index), call['id'], name), status: 'completed', arguments: whole };
  });
  const isOnlyCalls = items.length > 0 && (message!['content'] ?? '') === '';
  if (isOnlyCalls) return items;
  const { status = 'completed' } = saidByChat(output);
  const said = messageOf(messageItemId(id), textOf(output));
  const { refusal } = message ?? {};
  if (typeof refusal === 'string' && refusal !== '') said.content = refusedContent(said.content, refusal);
  return [{ ...said, status }, ...items];
}

/** Every item has a type, by which clients tell them apart. The output of another model may be a list, too. */
const isItems = (value: unknown): value is JsonObject[] =>
  Array.isArray(value) && value.every((item) => isObject(item) && typeof item['type'] === 'string');

/** Returns the parts of a message that ends with a refusal. A message without a text has only the refusal. */
const refusedContent = (content: readonly JsonObject[], refusal: string): JsonObject[] => [
  ...content.filter(({ text }) => text !== ''),
  { type: 'refusal', refusal },
];

/** The ids of the items that are made of the output of a request. */
export const messageItemId = (requestId: string): string => `msg_${requestId}`;
export const callItemId = (requestId: string, index: number): string => `fc_${requestId}_${index}`;

/** Returns the beginning of a call of a tool. */
export function callOf(id: string, callId: unknown, name: unknown): JsonObject {
  return { id, type: 'function_call', status: 'in_progress', call_id: callId, name, arguments: '' };
}

function messageOf(id: string, text: string): JsonObject & { content: JsonObject[] } {
  const content = [{ type: 'output_text', text, annotations: [], logprobs: [] }];
  return { id, type: 'message', status: 'completed', role: 'assistant', content };
}

/** Returns the message of a chat's answer. */
function chatMessageIn(output: unknown): JsonObject | undefined {
  const choice = firstChoice(output);
  return isObject(choice?.['message']) ? choice['message'] : undefined;
}

function firstChoice(output: unknown): JsonObject | undefined {
  const choices =
    isObject(output) && Array.isArray(output['choices']) ? (output['choices'] as unknown[]) : [];
  return isObject(choices[0]) ? choices[0] : undefined;
}

/**
 * Returns the text of a chat's answer or of an output that is a text. '': the chat has said none. For any other output,
 * returns its JSON.
 */
function textOf(output: unknown): string {
  if (typeof output === 'string') return output;
  const message = chatMessageIn(output);
  if (message !== undefined && (message['content'] ?? null) === null) return '';
  const text = message?.['content'] ?? firstChoice(output)?.['text'];
  return typeof text === 'string' ? text : JSON.stringify(output);
}
