import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { OutputSource } from '../queue/reads/output-source.js';
import type { StatusRow } from '../queue/reads/status-row.js';
import { OutputReader } from './output-reader.js';
import { pulled } from './pulled.js';

/** A client that reads only when the service waits for it, and then everything. */
class LazyClient extends EventEmitter {
  writableNeedDrain = false;
  unread = 0;
  maxUnread = 0;

  constructor() {
    super();
    this.on('newListener', (name) => {
      if (name === 'drain') setImmediate(() => this.read());
    });
  }

  write(text: string): void {
    this.writableNeedDrain = true;
    this.unread += text.length;
    this.maxUnread = Math.max(this.maxUnread, this.unread);
  }

  private read(): void {
    this.unread = 0;
    this.writableNeedDrain = false;
    this.emit('drain');
  }
}

it('sends a client that is far behind few of its parts before the client has read them, and all in the end', async () => {
  const table = Array.from({ length: 40 }, (_, index) => ({
    index,
    delta: JSON.stringify('x'.repeat(60_000)),
  }));
  const row = { id: 'r', state: 'COMPLETED', outcome: 'succeeded', attempt: 1, lastEventId: 1 } as StatusRow;
  const source = new OutputSource(row, ({ index }, limit) =>
    Promise.resolve(table.filter((one) => one.index >= index).slice(0, limit)),
  );
  const reader = new OutputReader(source, undefined, () => Promise.reject(new Error('there are parts')));
  const client = new LazyClient();
  const open = () => ({ events: reader.events(), close: () => reader.close() });
  const ids: (string | undefined)[] = [];
  await new Promise<void>((resolve) => {
    pulled(open, client as unknown as ServerResponse).subscribe({
      next: ({ id, data }) => {
        ids.push(id);
        client.write(data as string);
      },
      complete: resolve,
    });
  });
  expect(ids).toEqual([...table.map(({ index }) => `1.${index + 1}`), '1.done']);
  expect(client.maxUnread).toBeLessThan(256 * 1024);
});
