import { LocalFile } from './files.js';
import { refuse } from './options.js';
import type { BatchLine } from './types.js';

/** Lines that are not an array are held in memory up to this size, and sent as they are read beyond it. */
const maxHeldBytes = 8 * 2 ** 20;
const chunkBytes = 256 * 2 ** 10;

/** What the program's own iterable threw while its lines were sent. */
interface Failure {
  error?: unknown;
}

interface Content {
  content: Blob | LocalFile;
  failure: Failure;
  /** Ends the program's own iterable, whether or not it has been read to its end. */
  close(): void;
}

type Lines = Iterable<BatchLine> | AsyncIterable<BatchLine>;
type Replace = (input: object) => Promise<object>;

/**
 * Returns lines as NDJSON. A few lines, or those of an array, are held in memory, so that they can be sent again after a
 * lost connection. Others are read while they are sent. `replace` returns an input with URLs in place of files.
 */
export async function linesContent(lines: Lines, replace: Replace): Promise<Content> {
  const failure: Failure = {};
  const chunks = chunksOf(lines, replace);
  const close = (): void => void chunks.return().catch(() => undefined);
  const held: Uint8Array<ArrayBuffer>[] = [];
  for (let size = 0; Array.isArray(lines) || size <= maxHeldBytes;) {
    const next = await chunks.next();
    if (next.done === true) return { content: new Blob(held), failure, close };
    held.push(next.value);
    size += next.value.byteLength;
  }
  const rest = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const next = held.length > 0 ? { value: held.shift()!, done: false } : await chunks.next();
        if (next.done === true) controller.close();
        else controller.enqueue(next.value);
      } catch (error) {
        failure.error = error;
        controller.error(error);
      }
    },
    cancel: async () => void (await chunks.return()),
  });
  return { content: new LocalFile(rest, 'batch.jsonl', 'application/x-ndjson'), failure, close };
}

async function* chunksOf(
  lines: Lines,
  replace: Replace,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, void> {
  const encoder = new TextEncoder();
  let text = '';
  for await (const { customId, model, input, ...others } of lines) {
    refuse(others, 'member of a line', 'customId, model and input');
    text += `${JSON.stringify({ custom_id: customId, model_id: model, input: await replace(input) })}\n`;
    if (text.length < chunkBytes) continue;
    yield encoder.encode(text);
    text = '';
  }
  if (text !== '') yield encoder.encode(text);
}
