import type { DomainError } from '../../errors/domain-error.js';
import { isObject } from '../../http/input/json-body.js';
import type { JsonThreads } from '../../json/json-threads.js';
import {
  type BegunItem,
  beginOfMessage,
  callItemId,
  callOf,
  firstEvents,
  messageItemId,
  numbered,
  type ResponseHead,
  responseOf,
} from '../../json/responses.js';
import { maxInlineBytes } from '../../models/input-schemas.js';
import { chunksIn } from '../../queue/reads/output-part.js';
import type { StatusRow } from '../../queue/reads/status-row.js';
import { rawMember } from '../../tools/json-scanner.js';
import type { SentEvent } from '../sse-writer.js';
import type { Chunks } from './chunks.js';
import { type OpenAiError, toOpenAiError } from './openai-error.js';
import { answerTexts, responseHead } from './wire.js';

type JsonObject = Readonly<Record<string, unknown>>;

/** The events before the end that have the response. */
const ofResponse = ['response.created', 'response.queued', 'response.in_progress'];
/** The events that end a stream. */
const atEnd = ['response.completed', 'response.incomplete', 'response.failed'];

const readAgain = 'The stream has ended before the response. Read it again, from its beginning.';

export interface ResponseStream {
  isBackground: boolean;
  /** True: the request continues without the stream. A failure before the first event is an event, too. */
  continues: boolean;
  /** The number of the last event that the client has received. */
  after?: number | undefined;
}

/**
 * The events of a response. Those of the server pass, with the id and the status of the request. Chunks of a chat and
 * texts become such events. The items that the stream has begun end when the output is there, so that no text is kept
 * here meanwhile.
 */
export class ResponseChunks implements Chunks {
  readonly areOwn = false;
  readonly endMark = undefined;
  readonly failsInEvents: boolean;
  private readonly begun: BegunItem[] = [];
  /** The calls of a chat by their index, with their places among the items. */
  private readonly calls = new Map<number, number>();
  private isOwn = false;
  private next = 0;

  constructor(
    private readonly row: StatusRow,
    private readonly stream: ResponseStream,
    private readonly threads: JsonThreads,
  ) {
    this.failsInEvents = stream.continues;
  }

  part(part: string): SentEvent[] {
    const chunks = chunksIn(part);
    if (chunks !== undefined) return chunks.flatMap((chunk) => this.chunk(chunk) ?? []);
    return this.chunk(part) ?? this.text(part);
  }

  async rest(output: string, row: StatusRow): Promise<SentEvent[]> {
    const { begun, isOwn, next } = this;
    const ask = { head: responseHead(row, this.stream.isBackground), sent: { begun, isOwn, next } };
    const texts = await answerTexts('response', ask, output, { threads: this.threads, caller: row.keyId });
    const events = texts.map(eventOf);
    // The last event has the whole response, so a client that continues always gets it.
    return events.filter((_, i) => next + i > this.after || i === events.length - 1);
  }

  failed({ code, status, message, options }: DomainError, row?: StatusRow): SentEvent[] {
    const first = this.first();
    const { error } = toOpenAiError({ ...options, code, status, message }) as { error: Partial<OpenAiError> };
    const fault = { code: error.code ?? 'server_error', message: error.message ?? message };
    const hasFailed = row !== undefined && row.error !== null;
    // Nothing has failed but this stream. The request continues, or has its output.
    if (this.stream.continues && !hasFailed)
      return [...first, ...this.last({ type: 'error', ...fault, message: readAgain, param: null })];
    const head = hasFailed
      ? responseHead(row, this.stream.isBackground)
      : { ...this.head('failed'), error: fault };
    return [...first, ...this.last({ type: 'response.failed', response: responseOf(head) })];
  }

  /** Also true if the client has received the events before. */
  get hasBegun(): boolean {
    return this.next > 0;
  }

  private get after(): number {
    return this.stream.after ?? -1;
  }

  /** The head of the response before its end. */
  private head(status: string): ResponseHead {
    const row = { ...this.row, error: null, completedAtMs: null };
    return { ...responseHead(row, this.stream.isBackground), status };
  }

  /** undefined: it is neither an event, nor a chunk of a chat, nor a text. */
  private chunk(text: string): SentEvent[] | undefined {
    // The large events of a server have parts or all of the output, and are passed on unread.
    if (text.length > maxInlineBytes && text.startsWith('{')) {
      const type = rawMember(text, 'type');
      if (type !== undefined && isEventType(JSON.parse(type)))
        return this.event(type.slice(1, -1), text, Number(rawMember(text, 'sequence_number')));
    }
    const value: unknown = JSON.parse(text);
    if (typeof value === 'string') return this.text(value);
    if (!isObject(value)) return undefined;
    const { type, choices } = value;
    if (isEventType(type)) return this.event(type, text, Number(value['sequence_number']), value);
    return Array.isArray(choices) ? this.choice((choices as unknown[]).filter(isObject)) : undefined;
  }

  /** `value`: undefined if the event is too large to be parsed here. */
  private event(type: string, text: string, number: number, value?: JsonObject): SentEvent[] {
    this.isOwn = true;
    const isNumbered = Number.isInteger(number) && number >= 0;
    const at = isNumbered ? number : this.next;
    this.next = atEnd.includes(type) ? at : at + 1;
    if (at <= this.after || atEnd.includes(type)) return [];
    if (!ofResponse.includes(type)) return [{ event: type, data: isNumbered ? text : withNumber(text, at) }];
    const head = this.head(type === 'response.queued' ? 'queued' : 'in_progress');
    const data = { type, sequence_number: at, response: responseOf(head, value?.['response']) };
    return [{ event: type, data: JSON.stringify(data) }];
  }

  private text(delta: string): SentEvent[] {
    const first = this.first();
    const known = this.begun.findIndex(({ type }) => type === 'message');
    const output_index = known === -1 ? this.begun.length : known;
    const id = messageItemId(this.row.id);
    const begin = known === -1 ? beginOfMessage(id, output_index) : [];
    if (known === -1) this.begun.push({ id, type: 'message' });
    const at = { item_id: id, output_index, content_index: 0 };
    const event = { type: 'response.output_text.delta', ...at, delta, logprobs: [] };
    return [...first, ...this.send([...begin, event])];
  }

  /** The first choice of a chat becomes the output. */
  private choice(choices: readonly JsonObject[]): SentEvent[] {
    const choice = choices.find(({ index = 0 }) => index === 0);
    const { content, tool_calls: calls } = (choice?.['delta'] ?? {}) as JsonObject;
    const text = content ?? choice?.['text'];
    const events = typeof text === 'string' && text !== '' ? this.text(text) : [];
    if (!Array.isArray(calls)) return events;
    return [...events, ...calls.filter(isObject).flatMap((call, at) => this.call(call, at))];
  }

  private call({ index, id: callId, function: named }: JsonObject, at: number): SentEvent[] {
    const first = this.first();
    const { name, arguments: delta } = isObject(named) ? named : {};
    const key = typeof index === 'number' ? index : at;
    const known = this.calls.get(key);
    const output_index = known ?? this.begun.length;
    const begin = known === undefined ? [this.beginCall(key, callId, name)] : [];
    const event = { item_id: this.begun[output_index]!.id, output_index, delta };
    const more =
      typeof delta === 'string' && delta !== ''
        ? [{ type: 'response.function_call_arguments.delta', ...event }]
        : [];
    return [...first, ...this.send([...begin, ...more])];
  }

  private beginCall(key: number, callId: unknown, name: unknown): JsonObject {
    const id = callItemId(this.row.id, this.calls.size);
    const output_index = this.begun.push({ id, type: 'function_call' }) - 1;
    this.calls.set(key, output_index);
    return { type: 'response.output_item.added', output_index, item: callOf(id, callId, name) };
  }

  private first(): SentEvent[] {
    return this.next === 0 ? this.send(firstEvents(this.head('in_progress'))) : [];
  }

  /** The last event is always sent. */
  private last(event: JsonObject): SentEvent[] {
    return this.send([event], -1);
  }

  /** Numbers the events. Those up to `after` are not sent. */
  private send(events: readonly JsonObject[], after = this.after): SentEvent[] {
    const from = this.next;
    this.next += events.length;
    const texts = numbered(events, from).map((event) => eventOf(JSON.stringify(event)));
    return texts.filter((_, i) => from + i > after);
  }
}

/** Returns whether an event of a server may be passed on, under a type that is a line of the stream. */
const isEventType = (type: unknown): type is string =>
  typeof type === 'string' && /^response\.[\w.]+$/.test(type);

/** Servers such as llama.cpp do not number their events. The last of two members with one name counts. */
const withNumber = (event: string, number: number): string =>
  `${event.trimEnd().slice(0, -1)},"sequence_number":${number}}`;

/** `json`: an event made here, whose first member is its type. */
const eventOf = (json: string): SentEvent => ({ event: /^\{"type":"([\w.]+)"/.exec(json)![1]!, data: json });
