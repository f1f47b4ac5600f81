// OCR as a worker: it asks the queue for requests, so nothing has to reach this machine.
import { Fail, serve } from 'nowserving/worker';
import { close, readLines, Unreadable } from './ocr.mjs';

await serve('ocr/worker', async function* ({ image }, run) {
  try {
    for await (const { text, progress } of readLines(await run.download(image))) {
      run.signal.throwIfAborted();
      run.progress(progress);
      yield `${text}\n`; // streamed, and joined as the output
    }
  } catch (error) {
    throw error instanceof Unreadable ? new Fail(error.message, { status: 422 }) : error;
  }
});
await close();
