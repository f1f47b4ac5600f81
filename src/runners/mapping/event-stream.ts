import { createParser } from 'eventsource-parser';
import { RunFailure } from '../../queue/runs/runner.js';
import type { Chunks } from '../../outgoing/answer-body.js';
import { notUtf8, tooLarge } from '../model-answer.js';

/** An event of a stream: its type, if it has one, and its data lines, joined by line feeds. */
export interface StreamEvent {
  type: string | undefined;
  data: string;
}

/**
 * Yields the events of an event stream (`text/event-stream`), those of a chunk at once, across chunk borders. An event
 * that the stream's end cuts off is not yielded, as the standard demands.
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
  for await (const chunk of chunks) {
    parser.feed(decoded(decoder, chunk));
    if (events.length === 0) continue;
    const complete = events;
    events = [];
    yield complete;
  }
  decoded(decoder, undefined);
}

function decoded(decoder: InstanceType<typeof TextDecoder>, chunk: Buffer | undefined): string {
  try {
    return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
  } catch {
    throw new RunFailure(notUtf8);
  }
}
