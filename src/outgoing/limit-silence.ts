import { finished, Readable } from 'node:stream';

/**
 * Returns the same bytes. Their reading fails once none has come for `ms` although the reader waits for one. A slow
 * reader may take any time.
 */
export function limitSilence(source: Readable, ms: number): Readable {
  let silence: NodeJS.Timeout | undefined;
  const bytes = new Readable({
    read() {
      clearTimeout(silence);
      silence = setTimeout(() => bytes.destroy(new Error('silence')), ms);
      source.resume();
    },
    destroy(error, done) {
      clearTimeout(silence);
      source.destroy();
      done(error);
    },
  });
  source.on('data', (chunk: Buffer) => {
    clearTimeout(silence);
    if (!bytes.push(chunk)) source.pause();
  });
  finished(source, { writable: false }, (error) => {
    clearTimeout(silence);
    if (error) bytes.destroy(error);
    else bytes.push(null);
  });
  return bytes;
}
