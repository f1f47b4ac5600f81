// OCR as a program: it reads the input as JSON from stdin, and writes each line of the text to stdout.
import { json } from 'node:stream/consumers';
import { close, readLines, Unreadable } from './ocr.mjs';

const { image } = await json(process.stdin);
try {
  for await (const { text } of readLines(await download(image))) process.stdout.write(`${text}\n`);
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = error instanceof Unreadable ? 65 : 1; // 65: another attempt would fail as well
}
await close();

/** The caller has chosen the URL, so only files of the queue are read. */
async function download(url) {
  const path = /\/v1\/files\/[^?#]+$/.exec(url)?.[0];
  const response = path && (await fetch(process.env.NOWSERVING_URL + path));
  if (!response?.ok) throw new Unreadable('"image" is not the URL of an uploaded picture.');
  return response.arrayBuffer();
}
