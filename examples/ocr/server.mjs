// OCR as a server that the queue calls: a form with the picture comes in, a line of JSON for each line of text goes out.
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { readLines, Unreadable } from './ocr.mjs';

const server = createServer((request, response) => void answer(request, response));

async function answer(request, response) {
  const say = (line) => response.write(`${JSON.stringify(line)}\n`);
  try {
    for await (const { text, progress } of readLines(await pictureIn(request))) {
      if (response.destroyed) return; // Cancelled: the caller has disconnected.
      if (!response.headersSent) response.writeHead(200, { 'content-type': 'application/x-ndjson' });
      say({ line: `${text}\n`, progress });
    }
  } catch (error) {
    if (response.headersSent) say({ error: error.message });
    else {
      response.writeHead(error instanceof Unreadable ? 422 : 500, { 'content-type': 'application/json' });
      say({ detail: error.message });
    }
  }
  response.end();
}

async function pictureIn(request) {
  const headers = { 'content-type': request.headers['content-type'] ?? '' };
  const form = await new Response(Readable.toWeb(request), { headers }).formData();
  const image = form.get('image');
  if (!(image instanceof Blob)) throw new Unreadable('"image" is not the URL of an uploaded picture.');
  return image.arrayBuffer();
}

server.listen(Number(process.argv[2] ?? 9310), '127.0.0.1', () =>
  process.stdout.write(`listening on http://127.0.0.1:${server.address().port}\n`),
);
