import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { until } from './until.js';

export interface OutputEvent {
  event: string;
  id: string;
  data: { index?: number; delta?: unknown; attempt?: number; success?: boolean };
}

/** A client of one output stream, on its own connection. */
export class OutputStreamReader {
  readonly events: OutputEvent[] = [];
  /** Resolves when the server has closed the stream or `drop` was called. */
  readonly ended: Promise<void>;
  private text = '';

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

  /** The parts since the last reset. */
  get deltas(): unknown[] {
    const last = this.events.findLastIndex(({ event }) => event === 'reset');
    const since = this.events.slice(last + 1).filter(({ event }) => event === 'output');
    return since.map(({ data }) => data.delta);
  }

  get words(): string[] {
    return this.events.map(wordOf);
  }

  has(count: number): Promise<unknown> {
    return until(() => this.events.length >= count, {
      message: `${count} events have come`,
      explain: () => this.words,
    });
  }

  /** Vanishes like a crashed client, with a reset. */
  async drop(): Promise<void> {
    this.request.on('error', () => undefined);
    this.request.socket?.resetAndDestroy();
    await this.ended;
  }

  private read(part: string): void {
    const blocks = (this.text + part).split('\n\n');
    this.text = blocks.pop()!;
    for (const block of blocks) {
      const [, event, id, data] = /^event: (.*)\nid: (.*)\n((?:data: .*\n?)+)$/m.exec(block) ?? [];
      if (data === undefined) continue;
      const json = data.replaceAll(/^data: /gm, '');
      this.events.push({ event: event!, id: id!, data: JSON.parse(json) as OutputEvent['data'] });
    }
  }
}

/** Returns an event as a short text: `0 "a"`, `reset 2`, `done true`. */
export const wordOf = ({ event, data }: OutputEvent): string => {
  if (event === 'output') return `${data.index} ${JSON.stringify(data.delta)}`;
  return `${event} ${event === 'reset' ? data.attempt : data.success}`;
};

/** Resolves when the head of the answer has arrived. */
export async function readOutputStream(url: string, lastEventId = ''): Promise<OutputStreamReader> {
  const headers = lastEventId === '' ? {} : { 'last-event-id': lastEventId };
  const call = request(url, { agent: false, headers }).end();
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    call.once('response', resolve).once('error', reject);
  });
  return new OutputStreamReader(call, response);
}
