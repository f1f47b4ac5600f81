import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { Status } from './queue-calls.js';
import { until } from './until.js';

export interface StreamEvent {
  id: string;
  type: string;
  data: Status;
}

/** A client of one status stream, on its own connection. */
export class StreamReader {
  readonly events: StreamEvent[] = [];
  /** Resolves when the server has closed the stream or `drop` was called. */
  readonly ended: Promise<void>;
  private text = '';
  private hasSpoken = false;

  constructor(
    private readonly request: ClientRequest,
    readonly response: IncomingMessage,
  ) {
    response.setEncoding('utf8').on('data', (part: string) => this.read(part));
    this.ended = new Promise((resolve) => response.once('close', resolve));
    response.on('error', () => undefined);
  }

  get lastEventId(): string {
    return this.events.at(-1)?.id ?? '';
  }

  get data(): Status[] {
    return this.events.map(({ data }) => data);
  }

  statuses(): string[] {
    return this.data.map(({ status }) => status);
  }

  logs(): string[] {
    return messagesOf(this.events);
  }

  /** Resolves when anything has arrived, if only a comment. */
  async spoke(): Promise<void> {
    await until(() => this.hasSpoken, { message: 'the stream says something' });
  }

  /** Returns the first event whose data matches, when it has arrived. */
  event(matches: (data: Status) => boolean, message: string): Promise<StreamEvent> {
    return until(() => this.events.find(({ data }) => matches(data)), {
      message,
      explain: () => this.events,
    });
  }

  /** Vanishes like a crashed client, with a reset. */
  async drop(): Promise<void> {
    this.request.on('error', () => undefined);
    // Resetting a connection that the server has closed would leave a handle that keeps the process alive.
    if (!this.response.closed) this.request.socket?.resetAndDestroy();
    await this.ended;
  }

  private read(part: string): void {
    this.hasSpoken ||= part.trim() !== '';
    const blocks = (this.text + part).split('\n\n');
    this.text = blocks.pop()!;
    for (const block of blocks) {
      const [, id, data] = /^id: (.*)\ndata: (.*)$/m.exec(block) ?? [];
      const [, type = 'message'] = /^event: (.*)$/m.exec(block) ?? [];
      if (data !== undefined) this.events.push({ id: id!, type, data: JSON.parse(data) as Status });
    }
  }
}

export function messagesOf(events: readonly StreamEvent[]): string[] {
  return events.flatMap(({ data }) => data.logs ?? []).map(({ message }) => message);
}

/** Resolves when the head of the answer has arrived. */
export async function readStream(url: string, headers: Record<string, string> = {}): Promise<StreamReader> {
  const call = request(url, { agent: false, headers }).end();
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    call.once('response', resolve).once('error', reject);
  });
  return new StreamReader(call, response);
}
