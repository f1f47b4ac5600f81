import { isObject, type JsonObject } from './assemblers.js';

/** A stream of a chat or a completion in OpenAI's form. */
export interface ChoiceStream {
  kind: 'chat' | 'completion';
  head: { id: string; created: number; model: string };
  includesUsage: boolean;
  /** What it has sent. */
  shown: 'nothing' | 'texts' | 'chunks';
}

/** Returns whether a value is a chunk, or an answer, of a chat or a completion. */
export const hasChoices = (value: unknown): value is JsonObject =>
  isObject(value) && Array.isArray(value['choices']);

/** Returns the chunks for a text, which continues the first choice. */
export function chunksOfText(stream: ChoiceStream, text: string): string[] {
  const isFirst = stream.shown === 'nothing' && stream.kind === 'chat';
  const role = isFirst ? [deltaChunk(stream, 0, { role: 'assistant', content: '' })] : [];
  return [...role, textChunk(stream, text)];
}

/** Returns the chunks for members of an output that the stream has not sent. */
export function restOfChoices(stream: ChoiceStream, output: unknown): string[] {
  const choices = hasChoices(output) ? (output['choices'] as unknown[]).filter(isObject) : [];
  if (choices.length === 0) return restOfText(stream, output);
  const chunks = choices.flatMap((choice, at) =>
    restOfChoice(stream, choice, typeof choice['index'] === 'number' ? choice['index'] : at),
  );
  const usage = isObject(output) ? output['usage'] : undefined;
  if (stream.includesUsage && isObject(usage)) chunks.push(chunkOf(stream, [], { usage }));
  return chunks;
}

/** The output is a text, or has no member of an OpenAI answer. */
function restOfText(stream: ChoiceStream, output: unknown): string[] {
  const text = typeof output === 'string' ? output : json(output);
  const whole = stream.shown === 'nothing' ? chunksOfText(stream, text) : [];
  return [...whole, endChunk(stream, 0, 'stop')];
}

function restOfChoice(stream: ChoiceStream, choice: JsonObject, index: number): string[] {
  const isShown = index === 0 && stream.shown === 'texts';
  const reason = typeof choice['finish_reason'] === 'string' ? choice['finish_reason'] : 'stop';
  if (stream.kind === 'completion') {
    const text = !isShown && typeof choice['text'] === 'string' ? choice['text'] : '';
    const logprobs = choice['logprobs'] ?? null;
    return [chunkOf(stream, [{ index, text, logprobs, finish_reason: reason }])];
  }
  const message = isObject(choice['message']) ? choice['message'] : {};
  const delta = Object.fromEntries(
    Object.entries(message)
      .filter(([name, value]) => value !== null && !(isShown && (name === 'role' || name === 'content')))
      .map(([name, value]) => [name, name === 'tool_calls' ? indexed(value) : value]),
  );
  const more = Object.keys(delta).length === 0 ? [] : [deltaChunk(stream, index, delta)];
  return [...more, endChunk(stream, index, reason)];
}

/** Adds the index that tool calls of a chunk must have. */
function indexed(calls: unknown): unknown {
  if (!Array.isArray(calls)) return calls;
  return calls.map((call: unknown, index) => (isObject(call) ? { index, ...call } : call));
}

function textChunk(stream: ChoiceStream, text: string): string {
  if (stream.kind === 'chat') return deltaChunk(stream, 0, { content: text });
  return chunkOf(stream, [{ index: 0, text, logprobs: null, finish_reason: null }]);
}

function endChunk(stream: ChoiceStream, index: number, finish_reason: string): string {
  const text = stream.kind === 'chat' ? { delta: {} } : { text: '' };
  return chunkOf(stream, [{ index, ...text, logprobs: null, finish_reason }]);
}

function deltaChunk(stream: ChoiceStream, index: number, delta: object): string {
  return chunkOf(stream, [{ index, delta, logprobs: null, finish_reason: null }]);
}

function chunkOf({ kind, head }: ChoiceStream, choices: object[], more: object = {}): string {
  const object = kind === 'chat' ? 'chat.completion.chunk' : 'text_completion';
  return json({ ...head, object, choices, ...more });
}

/** Returns the last event of a transcription. `sent`: the text that its stream has sent. */
export function restOfTranscript(sent: string, output: unknown): string[] {
  const whole = isObject(output) ? output['text'] : output;
  const text = typeof whole === 'string' ? whole : sent;
  const usage = isObject(output) && isObject(output['usage']) ? { usage: output['usage'] } : {};
  return [json({ type: 'transcript.text.done', text, ...usage })];
}

const json = (value: unknown): string => JSON.stringify(value);
