import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';
import type { CallerWatch } from '../auth/caller-watch.js';
import { chargesOf } from '../http/charges.js';
import { linesType } from './segment-writer.js';

/** Bytes that a download has in memory at a time. */
const transferBytes = 1024 ** 2;

/** Answers with lines as they come. If the caller loses access, the answer breaks off. */
export async function sendLines(
  watch: Pick<CallerWatch, 'bind'>,
  response: Response,
  { contentType, fileName }: { contentType: string; fileName: string },
  bytes: AsyncGenerator<Buffer | string>,
): Promise<void> {
  chargesOf(response.req)?.take('bytes', transferBytes);
  // Read before the head is sent, so that a failure can still be answered.
  const first = await bytes.next();
  watch.bind(response);
  response.setHeader('Content-Type', contentType);
  response.setHeader('Cache-Control', 'private, no-cache');
  response.setHeader('Content-Disposition', `attachment; filename="${fileName}"`);
  if (first.done === true) return void response.end();
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

/** The service's own name and type of a file of a batch. */
export const linesFile = (batchId: string): { contentType: string; fileName: string } => ({
  contentType: linesType,
  fileName: `${batchId}.jsonl`,
});
