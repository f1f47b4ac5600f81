import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { chargesOf } from './charges.js';

/** Bytes that a download has in memory at a time. */
const transferBytes = 1024 ** 2;

/** Closes the connection of an answer when its caller loses access. */
interface Watch {
  bind(response: ServerResponse): void;
}

/** Answers with lines as they come. If the caller loses access, the answer breaks off. For a HEAD no line is read. */
export async function sendLines(
  watch: Watch,
  response: ServerResponse,
  { contentType, fileName }: { contentType: string; fileName: string },
  bytes: AsyncGenerator<Buffer | string>,
): Promise<void> {
  const isRead = response.req.method !== 'HEAD';
  if (isRead) chargesOf(response.req)?.take('bytes', transferBytes);
  // Read before the head is sent, so that a failure can still be answered.
  const first = isRead ? await bytes.next() : undefined;
  watch.bind(response);
  response.setHeader('Content-Type', contentType);
  response.setHeader('Cache-Control', 'private, no-cache');
  response.setHeader('Content-Disposition', `attachment; filename="${fileName}"`);
  if (first === undefined || first.done === true) return void response.end();
  const whole = (async function* () {
    yield first.value;
    yield* bytes;
  })();
  // A client that disconnects is no error. If the source fails, the answer breaks off.
  await pipeline(Readable.from(whole, { objectMode: true, highWaterMark: 1 }), response).catch(() =>
    response.destroy(),
  );
  // If the client had gone already, `whole` has not begun, and closes nothing that was opened for the first lines.
  await bytes.return(undefined);
}
