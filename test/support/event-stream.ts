import { until } from './index.js';

export interface StreamEvent<T> {
  id: string | undefined;
  /** undefined: an event without a name, which `EventSource.onmessage` gets. */
  name: string | undefined;
  data: T;
}

/** An open `text/event-stream`, read as it comes. */
export class EventStream<T> {
  readonly events: StreamEvent<T>[] = [];
  /** The whole of it as it came over the wire. */
  text = '';
  /** When the server has closed it. */
  readonly ended: Promise<void>;
  isOver = false;
  private readonly controller: AbortController;
  private rest = '';

  private constructor(
    readonly response: Response,
    controller: AbortController,
  ) {
    this.controller = controller;
    this.ended = this.read();
  }

  static async open<T>(url: string, headers: Record<string, string> = {}): Promise<EventStream<T>> {
    const controller = new AbortController();
    const response = await fetch(url, { headers, signal: controller.signal });
    return new EventStream<T>(response, controller);
  }

  get data(): T[] {
    return this.events.map(({ data }) => data);
  }

  /** The first event whose data is like this, once it has come. */
  event(matches: (data: T) => boolean, message: string): Promise<StreamEvent<T>> {
    return until(() => this.events.find(({ data }) => matches(data)), { message, explain: () => this.text });
  }

  /** Hangs up. */
  async close(): Promise<void> {
    this.controller.abort();
    await this.ended;
  }

  private async read(): Promise<void> {
    try {
      const decoder = new TextDecoder();
      for await (const chunk of this.response.body ?? []) {
        const text = decoder.decode(chunk as Uint8Array, { stream: true });
        this.text += text;
        this.rest += text;
        this.parse();
      }
    } catch (error) {
      if (!this.controller.signal.aborted) throw error;
    } finally {
      this.isOver = true;
    }
  }

  private parse(): void {
    const blocks = this.rest.split('\n\n');
    this.rest = blocks.pop()!;
    for (const block of blocks) {
      const fields = block.split('\n');
      const field = (name: string): string | undefined =>
        fields.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      const data = field('data');
      if (data !== undefined) {
        this.events.push({ id: field('id'), name: field('event'), data: JSON.parse(data) as T });
      }
    }
  }
}
