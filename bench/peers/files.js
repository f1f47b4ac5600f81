import { createReadStream, createWriteStream, fsyncSync, openSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** The floor: a PUT into a file, answered after its fsync, and a GET of it. No hash, no temporary name. */
const path = join(process.env.FILES_DIR, 'file');

const server = createServer(async (request, response) => {
  if (request.method === 'PUT') {
    const fd = openSync(path, 'w');
    const file = createWriteStream(path, { fd, autoClose: false });
    await pipeline(request, file);
    fsyncSync(fd);
    file.destroy();
    response.end();
    return;
  }
  response.setHeader('Content-Length', statSync(path).size);
  await pipeline(createReadStream(path), response);
});
server.requestTimeout = 0;
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening on http://127.0.0.1:${server.address().port}\n`);
});
process.once('SIGTERM', () => process.exit(0));
