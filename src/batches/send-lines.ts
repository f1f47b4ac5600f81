import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';
import { chargesOf } from '../http/charges.js';
import { linesType } from './segment-writer.js';

/** Bytes of a file that a download has in memory at a time. */
const transferBytes = 1024 ** 2;

/** Answers with the lines of a file of a batch, as they come. */
export async function sendLines(
  response: Response,
  { contentType, fileName }: { contentType: string; fileName: string },
  bytes: AsyncGenerator<Buffer>,
): Promise<void> {
  chargesOf(response.req)?.take('bytes', transferBytes);
  // Read before the head is sent, so that a failure can still be answered.
  const first = await bytes.next();
  response.setHeader('Content-Type', contentType);
  response.setHeader('Cache-Control', 'private, no-cache');
  response.setHeader('Content-Disposition', `attachment; filename="${fileName}"`);
  if (first.done === true) return void response.end();
  const whole = (async function* () {
    yield first.value;
    yield* bytes;
  })();
  // A client that disconnects is no error. If the store breaks off, so does the answer.
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
