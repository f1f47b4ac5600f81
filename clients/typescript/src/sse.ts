export interface ServerEvent {
  /** `message` if it has none. */
  name: string;
  id: string;
  data: string;
}

/** Takes a `text/event-stream` apart as it comes, by the rules of the HTML standard. */
export class EventParser {
  private rest = '';
  private id = '';
  private name = '';
  private data: string[] = [];

  /** The events that are complete with this piece of text. */
  push(text: string): ServerEvent[] {
    const events: ServerEvent[] = [];
    // A carriage return at the end may be half of a line's end.
    const lines = (this.rest + text).split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop()!;
    for (const line of lines) {
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
