import { createParser } from 'eventsource-parser';
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

/** Bytes of a stream whose events are yielded at once. The parser makes an Error for each unknown field. */
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
  let events: StreamEvent[] = [];
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const parser = createParser({
    maxBufferSize: maxEventBytes,
    onEvent: ({ event, data }) => events.push({ type: event, data }),
    onError: ({ type, field, value = '' }) => {
      if (type === 'max-buffer-size-exceeded') throw tooLarge(maxEventBytes);
      // Until the end of 2025, llama.cpp reported errors in a field of its own. Other unknown fields are ignored.
      if (field === 'error' && value.startsWith('{')) events.push({ type: 'error', data: value });
    },
  });
  const read = (part: string): StreamEvent[] => {
    events = [];
    parser.feed(part);
    return events;
  };
  for await (const chunk of chunks) {
    const slices = new Slices();
    for (let at = 0; at < chunk.length; at += pieceBytes) {
      const complete = read(decoded(decoder, chunk.subarray(at, at + pieceBytes)));
      if (complete.length > 0) yield complete;
      if (slices.isOver) await slices.next();
    }
  }
  const last = read(`${lastDecoded(decoder)}\n\n`);
  if (last.length > 0) yield last.map((event) => ({ ...event, mayBeCut: true }));
}

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
