import type { DomainError } from '../../errors/domain-error.js';
import { isObject } from '../../http/input/json-body.js';
import { chunksIn } from '../../queue/reads/output-part.js';
import type { StatusRow } from '../../queue/reads/status-row.js';
import type { SentEvent } from '../sse-writer.js';
import { toOpenAiError } from './openai-error.js';

type JsonObject = Readonly<Record<string, unknown>>;

/** Turns the output of a request into the events of a stream in OpenAI's form. */
export interface Chunks {
  /** True: the parts are chunks of the server's own stream. They contain the whole output. */
  readonly areOwn: boolean;
  /** The data of the event after the last. undefined: the last event ends the stream. */
  readonly endMark: string | undefined;
  /** True: a failure before the first event is an event, too. Otherwise it is an answer of its own. */
  readonly failsInEvents: boolean;
  /** Returns the events of a part of the output, as it is stored. */
  part(part: string): SentEvent[];
  /** Returns the events for members of the whole output, which is JSON text, that no part contains. */
  rest(output: string, row: StatusRow): SentEvent[] | Promise<SentEvent[]>;
  /** Returns the events for a failure. `row`: the completed request. undefined: it has not completed, as far as known. */
  failed(error: DomainError, row?: StatusRow): SentEvent[];
}

/** A stream of chunks, which has only data. */
abstract class DataChunks implements Chunks {
  abstract readonly areOwn: boolean;
  readonly endMark = '[DONE]';
  readonly failsInEvents = false;

  abstract part(part: string): string[];
  abstract restOf(output: unknown): string[];

  rest(output: string): string[] {
    return this.restOf(JSON.parse(output));
  }

  failed({ code, status, message, options }: DomainError): string[] {
    return [json({ error: toOpenAiError({ ...options, code, status, message }).error })];
  }
}

interface ChunkHead {
  id: string;
  created: number;
  model: string;
}

const json = (value: unknown): string => JSON.stringify(value);
const isChunk = (value: unknown): value is JsonObject => isObject(value) && Array.isArray(value['choices']);

function choicesOf(output: unknown): JsonObject[] {
  return isChunk(output) ? (output['choices'] as unknown[]).filter(isObject) : [];
}

/**
 * The chunks of a chat or a completion. Those of the server, and deltas that are chunks, pass unchanged. Deltas that are
 * texts continue the first choice. The rest of the answer comes at the end: tool calls, other choices, finish reasons,
 * the usage.
 */
export class ChoiceChunks extends DataChunks {
  private shown: 'nothing' | 'texts' | 'chunks' = 'nothing';

  constructor(
    private readonly kind: 'chat' | 'completion',
    private readonly head: ChunkHead,
    private readonly includesUsage: boolean,
  ) {
    super();
  }

  get areOwn(): boolean {
    return this.shown === 'chunks';
  }

  part(part: string): string[] {
    const chunks = chunksIn(part);
    if (chunks !== undefined) {
      this.shown = 'chunks';
      return chunks.filter((chunk) => this.includesUsage || !isOnlyUsage(chunk));
    }
    return this.delta(part);
  }

  private delta(delta: string): string[] {
    const value: unknown = JSON.parse(delta);
    if (isChunk(value)) {
      this.shown = 'chunks';
      return [delta];
    }
    const role = this.shown === 'nothing' && this.kind === 'chat' ? [this.roleChunk(0)] : [];
    this.shown = 'texts';
    return [...role, this.textChunk(typeof value === 'string' ? value : delta)];
  }

  restOf(output: unknown): string[] {
    const choices = choicesOf(output);
    if (choices.length === 0) return this.restOfText(output);
    const chunks = choices.flatMap((choice, at) =>
      this.restOfChoice(choice, typeof choice['index'] === 'number' ? choice['index'] : at),
    );
    const usage = isObject(output) ? output['usage'] : undefined;
    if (this.includesUsage && isObject(usage)) chunks.push(this.chunk([], { usage }));
    return chunks;
  }

  /** The output is a text, or has no member of an OpenAI answer. */
  private restOfText(output: unknown): string[] {
    const text = typeof output === 'string' ? output : json(output);
    const whole = this.shown === 'nothing' ? this.delta(json(text)) : [];
    return [...whole, this.endChunk(0, 'stop')];
  }

  private restOfChoice(choice: JsonObject, index: number): string[] {
    const isShown = index === 0 && this.shown === 'texts';
    const reason = typeof choice['finish_reason'] === 'string' ? choice['finish_reason'] : 'stop';
    if (this.kind === 'completion') {
      const text = !isShown && typeof choice['text'] === 'string' ? choice['text'] : '';
      return [this.chunk([{ index, text, logprobs: choice['logprobs'] ?? null, finish_reason: reason }])];
    }
    const message = isObject(choice['message']) ? choice['message'] : {};
    const delta = Object.fromEntries(
      Object.entries(message)
        .filter(([name, value]) => value !== null && !(isShown && (name === 'role' || name === 'content')))
        .map(([name, value]) => [name, name === 'tool_calls' ? indexed(value) : value]),
    );
    const more = Object.keys(delta).length === 0 ? [] : [this.deltaChunk(index, delta)];
    return [...more, this.endChunk(index, reason)];
  }

  private roleChunk(index: number): string {
    return this.deltaChunk(index, { role: 'assistant', content: '' });
  }

  private textChunk(text: string): string {
    if (this.kind === 'chat') return this.deltaChunk(0, { content: text });
    return this.chunk([{ index: 0, text, logprobs: null, finish_reason: null }]);
  }

  private endChunk(index: number, finish_reason: string): string {
    const text = this.kind === 'chat' ? { delta: {} } : { text: '' };
    return this.chunk([{ index, ...text, logprobs: null, finish_reason }]);
  }

  private deltaChunk(index: number, delta: object): string {
    return this.chunk([{ index, delta, logprobs: null, finish_reason: null }]);
  }

  private chunk(choices: object[], more: object = {}): string {
    const object = this.kind === 'chat' ? 'chat.completion.chunk' : 'text_completion';
    return json({ ...this.head, object, choices, ...more });
  }
}

/**
 * Returns whether a chunk has the usage and no choice. A server sends it also if the model's entry asks for the usage
 * and the caller does not.
 */
function isOnlyUsage(chunk: string): boolean {
  if (!/"choices":\s*\[\s*\]/.test(chunk)) return false;
  const { choices, usage } = JSON.parse(chunk) as JsonObject;
  return Array.isArray(choices) && choices.length === 0 && isObject(usage);
}

/** Adds the index that tool calls of a chunk must have. */
function indexed(calls: unknown): unknown {
  if (!Array.isArray(calls)) return calls;
  return calls.map((call: unknown, index) => (isObject(call) ? { index, ...call } : call));
}

/** The events of a transcription. */
export class TranscriptChunks extends DataChunks {
  areOwn = false;
  private text = '';

  part(part: string): string[] {
    const chunks = chunksIn(part);
    if (chunks === undefined) return this.delta(part);
    this.areOwn = true;
    return chunks;
  }

  private delta(delta: string): string[] {
    const value: unknown = JSON.parse(delta);
    const text = typeof value === 'string' ? value : delta;
    this.text += text;
    return [json({ type: 'transcript.text.delta', delta: text })];
  }

  restOf(output: unknown): string[] {
    const whole = isObject(output) ? output['text'] : output;
    const text = typeof whole === 'string' ? whole : this.text;
    const usage = isObject(output) && isObject(output['usage']) ? { usage: output['usage'] } : {};
    return [json({ type: 'transcript.text.done', text, ...usage })];
  }
}
