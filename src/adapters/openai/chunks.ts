import type { DomainError } from '../../errors/domain-error.js';
import { isObject } from '../../http/input/json-body.js';
import type { JsonThreads } from '../../json/json-threads.js';
import { type ChoiceStream, chunksOfText, hasChoices } from '../../json/stream-chunks.js';
import { chunksIn } from '../../queue/reads/output-part.js';
import type { StatusRow } from '../../queue/reads/status-row.js';
import type { SentEvent } from '../sse-writer.js';
import { toOpenAiError } from './openai-error.js';
import { answerTexts, type Readers } from './wire.js';

/** Turns the output of a request into the events of a stream in OpenAI's form. */
export interface Chunks {
  /** True: the parts are chunks of the server's own stream. They contain the whole output. */
  readonly areOwn: boolean;
  /** True: parts have become events, which no other attempt can continue. */
  readonly hasBegun: boolean;
  /** The data of the event after the last. undefined: the last event ends the stream. */
  readonly endMark: string | undefined;
  /** True: a failure before the first event is an event, too. Otherwise it is an answer of its own. */
  readonly failsInEvents: boolean;
  /** Returns the events of a part of the output, as it is stored. */
  part(part: string): SentEvent[];
  /** Returns the events for members of the whole output, which is JSON text, that no part contains. */
  rest(output: string, row: StatusRow): Promise<SentEvent[]>;
  /** Returns the events for a failure. `row`: the completed request. undefined: it has not completed, as far as known. */
  failed(error: DomainError, row?: StatusRow): SentEvent[];
}

/** A stream of chunks, which has only data. */
abstract class DataChunks implements Chunks {
  abstract readonly areOwn: boolean;
  abstract readonly hasBegun: boolean;
  readonly endMark = '[DONE]';
  readonly failsInEvents = false;

  constructor(private readonly threads: JsonThreads) {}

  abstract part(part: string): string[];
  protected abstract restOf(output: string, readers: Readers): Promise<string[]>;

  rest(output: string, { keyId }: StatusRow): Promise<string[]> {
    return this.restOf(output, { threads: this.threads, caller: keyId });
  }

  failed({ code, status, message, options }: DomainError): string[] {
    return [json({ error: toOpenAiError({ ...options, code, status, message }).error })];
  }
}

const json = (value: unknown): string => JSON.stringify(value);

/**
 * The chunks of a chat or a completion. Those of the server, and deltas that are chunks, pass unchanged. Deltas that are
 * texts continue the first choice. The rest of the answer comes at the end: tool calls, other choices, finish reasons,
 * the usage.
 */
export class ChoiceChunks extends DataChunks {
  private readonly stream: ChoiceStream;

  constructor(stream: Omit<ChoiceStream, 'shown'>, threads: JsonThreads) {
    super(threads);
    this.stream = { ...stream, shown: 'nothing' };
  }

  get areOwn(): boolean {
    return this.stream.shown === 'chunks';
  }

  get hasBegun(): boolean {
    return this.stream.shown !== 'nothing';
  }

  part(part: string): string[] {
    const chunks = chunksIn(part);
    if (chunks !== undefined) {
      this.stream.shown = 'chunks';
      return this.asked(chunks);
    }
    return this.delta(part);
  }

  private delta(delta: string): string[] {
    const value: unknown = JSON.parse(delta);
    if (hasChoices(value)) {
      this.stream.shown = 'chunks';
      return this.asked([delta]);
    }
    const chunks = chunksOfText(this.stream, typeof value === 'string' ? value : delta);
    this.stream.shown = 'texts';
    return chunks;
  }

  private asked(chunks: readonly string[]): string[] {
    return chunks.filter((chunk) => this.stream.includesUsage || !isOnlyUsage(chunk));
  }

  protected restOf(output: string, readers: Readers): Promise<string[]> {
    return answerTexts('restOfChoices', this.stream, output, readers);
  }
}

/**
 * Returns whether a chunk has the usage and no choice. A server sends it also if the model's entry asks for the usage
 * and the caller does not.
 */
function isOnlyUsage(chunk: string): boolean {
  if (!/"choices":\s*\[\s*\]/.test(chunk)) return false;
  const { choices, usage } = JSON.parse(chunk) as Readonly<Record<string, unknown>>;
  return Array.isArray(choices) && choices.length === 0 && isObject(usage);
}

/** The events of a transcription. */
export class TranscriptChunks extends DataChunks {
  areOwn = false;
  hasBegun = false;
  private text = '';

  part(part: string): string[] {
    this.hasBegun = true;
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

  protected restOf(output: string, readers: Readers): Promise<string[]> {
    return answerTexts('restOfTranscript', { sent: this.text }, output, readers);
  }
}
