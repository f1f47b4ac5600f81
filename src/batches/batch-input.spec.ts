import { Readable } from 'node:stream';
import type { Files } from '../files/files.js';
import { BatchInput } from './batch-input.js';

/** An input that consists of these chunks, and of the last one again and again. */
function inputOf(...chunks: string[]): { input: BatchInput; sent: () => number } {
  let sent = 0;
  const source = (async function* () {
    for (; ; sent++) {
      // The event loop turns between the chunks, as it does while a file is read.
      await new Promise(setImmediate);
      yield Buffer.from(chunks[Math.min(sent, chunks.length - 1)]!);
    }
  })();
  const files = {
    byId: () => Promise.resolve({ size: Number.MAX_SAFE_INTEGER }),
    read: () => Promise.resolve(Readable.from(source)),
  };
  return { input: new BatchInput(files as unknown as Files), sent: () => sent };
}

test('a signal ends the reading of an input that has only blank lines', async () => {
  const { input, sent } = inputOf('\n \r\n\t\n'.repeat(1_000));
  const ended = new AbortController();
  const reading = input.lines('file', 0, ended.signal).next();
  const stopped = expect(reading).rejects.toThrow('stopped');
  while (sent() < 10) await new Promise(setImmediate);
  ended.abort(new Error('stopped'));
  await stopped;
});

test('a signal ends the reading of an input that sends nothing more', async () => {
  const source = new Readable({ read: () => undefined });
  source.push('{"a":1}\n');
  const files = {
    byId: () => Promise.resolve({ size: 100 }),
    read: () => Promise.resolve(source),
  };
  const ended = new AbortController();
  const lines = new BatchInput(files as unknown as Files).lines('file', 0, ended.signal);
  expect((await lines.next()).value).toMatchObject({ number: 1 });
  const stopped = expect(lines.next()).rejects.toThrow('stopped');
  await new Promise(setImmediate);
  ended.abort(new Error('stopped'));
  await stopped;
  expect(source.destroyed).toBe(true);
});

test('lines between blank lines have their exact numbers and offsets, however the file is split into chunks', async () => {
  const text = '\n \r\n{"a":1}\r\n\n\t\n  {"b":2}\n\n';
  for (let at = 0; at <= text.length; at++) {
    const { input } = inputOf(text.slice(0, at), text.slice(at), '\n');
    const lines = input.lines('file', 0, new AbortController().signal);
    const found = [(await lines.next()).value, (await lines.next()).value];
    await lines.return(undefined);
    expect(found.map((line) => line && [line.bytes.toString(), line.number, line.end])).toEqual([
      ['{"a":1}\r', 3, 13],
      ['  {"b":2}', 6, 26],
    ]);
  }
});
