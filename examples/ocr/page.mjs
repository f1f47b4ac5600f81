// Serves a page that uploads a picture and shows its text while it grows. The key of the queue stays in this process.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { createClient } from 'nowserving';

const queue = createClient({ url: process.env.NOWSERVING_URL, key: process.env.NOWSERVING_KEY });
const page = await readFile(new URL('page.html', import.meta.url));

const server = createServer((request, response) => {
  const isPicture = (request.headers['content-type'] ?? '').startsWith('image/');
  if (request.method === 'POST' && isPicture) return void read(request, response);
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page);
});

/** Submits the picture in the body, and answers with a line of JSON for each part of its text. */
async function read(request, response) {
  const say = (line) => response.write(`${JSON.stringify(line)}\n`);
  const left = new AbortController();
  response.on('close', () => left.abort());
  response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  try {
    const headers = { 'content-type': request.headers['content-type'] };
    const image = await new Response(Readable.toWeb(request), { headers }).blob();
    const model = new URL(request.url, 'http://page').searchParams.get('model');
    // The client uploads the picture, and puts its URL in its place.
    const { request_id } = await queue.submit(model, { input: { image } });
    const options = { onReset: () => say({ reset: true }), signal: left.signal, cancelOnAbort: true };
    for await (const text of queue.output(request_id, options)) say({ text });
    say({ done: true });
  } catch (error) {
    say({ error: error.details?.detail ?? error.detail ?? error.message });
  }
  response.end();
}

server.listen(Number(process.argv[2] ?? 9311), '127.0.0.1', () =>
  process.stdout.write(`listening on http://127.0.0.1:${server.address().port}\n`),
);
