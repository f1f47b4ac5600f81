import { maxInlineBytes } from '../../models/input-schemas.js';
import { RunFailure } from '../../queue/runs/runner.js';
import type { Chunks } from '../../outgoing/answer-body.js';
import { Slices } from '../../tools/slices.js';
import { parseJson } from '../../tools/storable-text.js';
import { notUtf8, tooLarge } from '../model-answer.js';

/** An event of a stream: its type, if it has one, and its data lines, joined by line feeds. */
export interface StreamEvent {
  type: string | undefined;
  data: string;
  /** The stream has ended without the blank line after the event, so its rest may be missing. */
  mayBeCut?: true;
}

/** Bytes of a stream whose events are yielded at once. */
const pieceBytes = 2_048;

/** Returns whether an event may have lost its end. A whole object or list, or null, has not. */
export function isCut({ data, mayBeCut }: StreamEvent): boolean {
  if (mayBeCut !== true) return false;
  const json = data.length > maxInlineBytes ? undefined : parseJson(data);
  return json === undefined || typeof json.value !== 'object';
}

/**
 * Yields the events of an event stream (`text/event-stream`), several at once, across chunk borders. The standard drops
 * an event without a blank line after it. Here it is yielded, because some servers end their last event like this.
 * Between pieces of a long chunk, other calls get a turn.
 */
export async function* readEvents(chunks: Chunks, maxEventBytes: number): AsyncGenerator<StreamEvent[]> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const parser = new EventParser(maxEventBytes);
  for await (const chunk of chunks) {
    const slices = new Slices();
    for (let at = 0; at < chunk.length; at += pieceBytes) {
      const events = parser.read(decoded(decoder, chunk.subarray(at, at + pieceBytes)));
      if (events.length > 0) yield events;
      if (slices.isOver) await slices.next();
    }
  }
  const last = parser.read(`${lastDecoded(decoder)}\n\n`);
  if (last.length > 0) yield last.map((event) => ({ ...event, mayBeCut: true }));
}

/**
 * Reads the events of an event stream, as the HTML standard describes it. It skips comments and unknown fields at little
 * cost, because a stream may consist of them.
 */
class EventParser {
  private events: StreamEvent[] = [];
  /** The beginning of a line whose end has not come. */
  private readonly begun: string[] = [];
  private begunLength = 0;
  /** A carriage return that may be the first half of a line end. */
  private half = '';
  private type: string | undefined;
  private data: string | undefined;

  constructor(private readonly maxLength: number) {}

  /** Takes a part of the stream, and returns the events that it completes. */
  read(part: string): StreamEvent[] {
    let text = this.half + part;
    this.half = text.endsWith('\r') ? '\r' : '';
    if (this.half !== '') text = text.slice(0, -1);
    let from = 0;
    lineEnd.lastIndex = 0;
    for (let end = lineEnd.exec(text); end !== null; end = lineEnd.exec(text)) {
      this.begun.push(text.slice(from, end.index));
      this.takeLine(this.begun.length === 1 ? this.begun[0]! : this.begun.join(''));
      this.begun.length = 0;
      this.begunLength = 0;
      from = lineEnd.lastIndex;
    }
    if (from < text.length) this.begun.push(text.slice(from));
    this.begunLength += text.length - from;
    if (this.begunLength + (this.data?.length ?? 0) > this.maxLength) throw tooLarge(this.maxLength);
    const { events } = this;
    this.events = [];
    return events;
  }

  private takeLine(line: string): void {
    if (line === '') {
      if (this.data !== undefined) this.events.push({ type: this.type, data: this.data });
      this.type = undefined;
      this.data = undefined;
      return;
    }
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (name === 'data') this.data = this.data === undefined ? value : `${this.data}\n${value}`;
    else if (name === 'event') this.type = value || undefined;
    // Until the end of 2025, llama.cpp reported errors in a field of its own. Other unknown fields are ignored.
    else if (name === 'error' && value.startsWith('{')) this.events.push({ type: 'error', data: value });
  }
}

const lineEnd = /\r\n?|\n/g;

type Decoder = InstanceType<typeof TextDecoder>;

function decoded(decoder: Decoder, chunk: Buffer): string {
  try {
    return decoder.decode(chunk, { stream: true });
  } catch {
    throw new RunFailure(notUtf8);
  }
}

/** A character that lost its end with the stream is U+FFFD, so that no event looks whole without it. */
function lastDecoded(decoder: Decoder): string {
  try {
    return decoder.decode();
  } catch {
    return '\ufffd';
  }
}
