import { LineSplitter } from './lines.js';

export interface ServerEvent {
  /** `message` if the event has no name. */
  name: string;
  id: string;
  data: string;
}

/** Parses a `text/event-stream` incrementally, by the rules of the HTML standard. */
export class EventParser {
  // A carriage return at the end may be the first half of a line break.
  private readonly lines = new LineSplitter(/\r\n|\n|\r(?!$)/);
  private id = '';
  private name = '';
  private data: string[] = [];

  /** Returns the events that this piece of text completes. */
  push(text: string): ServerEvent[] {
    const events: ServerEvent[] = [];
    for (const line of this.lines.push(text)) {
      if (line !== '') this.field(line);
      else if (this.data.length > 0) {
        events.push({ name: this.name || 'message', id: this.id, data: this.data.join('\n') });
        this.data = [];
      }
      if (line === '') this.name = '';
    }
    return events;
  }

  private field(line: string): void {
    const [, name, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line)!;
    if (name === 'data') this.data.push(value);
    if (name === 'event') this.name = value;
    if (name === 'id' && !value.includes('\0')) this.id = value;
  }
}
