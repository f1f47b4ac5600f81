import { type ClientRequest, type IncomingMessage, request } from 'node:http';

export interface StreamEvent {
  id: string;
  status: Status;
}

export interface Status {
  status: string;
  request_id: string;
  queue_position?: number;
  success?: boolean;
  error?: { code: string } | null;
  logs?: { message: string; level: string; source: string; timestamp: string }[];
}

/** A client of one status stream, on a connection of its own. */
export class StreamReader {
  readonly events: StreamEvent[] = [];
  comments = 0;
  /** When the server has closed the stream or `drop` was called. */
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

  statuses(): string[] {
    return this.events.map(({ status }) => status.status);
  }

  logs(): string[] {
    return this.events.flatMap(({ status }) => status.logs ?? []).map(({ message }) => message);
  }

  /** As a client that vanishes: with a reset, without a goodbye. */
  drop(): void {
    this.request.on('error', () => undefined);
    this.request.socket?.resetAndDestroy();
  }

  private read(part: string): void {
    this.text += part;
    const blocks = this.text.split('\n\n');
    this.text = blocks.pop()!;
    for (const block of blocks) {
      const field = (name: string): string[] =>
        block
          .split('\n')
          .filter((line) => line.startsWith(`${name}: `))
          .map((line) => line.slice(name.length + 2));
      if (block.split('\n').some((line) => line.startsWith(':'))) this.comments++;
      const data = field('data').join('\n');
      if (data !== '') this.events.push({ id: field('id')[0] ?? '', status: JSON.parse(data) as Status });
    }
  }
}

/** Resolves when the answer's head is there; throws if it is not a stream. */
export async function readStream(url: string, headers: Record<string, string> = {}): Promise<StreamReader> {
  const call = request(url, { agent: false, headers }).end();
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    call.once('response', resolve).once('error', reject);
  });
  if (response.statusCode !== 200) {
    call.destroy();
    throw new Error(`no stream, but ${response.statusCode}`);
  }
  return new StreamReader(call, response);
}
