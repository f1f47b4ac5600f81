import { connect } from 'node:net';
import { readFileSync } from 'node:fs';

/**
 * A process of its own that opens a status stream for each id in a file, as raw as it can, so that it eats
 * little of the cores it measures. Notes when each stream first sent each state, by the machine's clock, and
 * how many messages came. Says `open` when all streams have sent something, and its notes when it is asked.
 */
const [, , url, idsFile, authorization] = process.argv;
const { hostname, port } = new URL(url);
const ids = readFileSync(idsFile, 'utf8').split('\n');
const opening = 100;

/** @type {Record<string, Record<string, number>>} */
const seen = {};
let messages = 0;
let broken = 0;
let closing = false;
const now = () => performance.timeOrigin + performance.now();

function open(id) {
  return new Promise((resolve) => {
    const states = (seen[id] = {});
    const socket = connect(Number(port), hostname);
    let rest = '';
    socket.setEncoding('latin1');
    socket.on('data', (data) => {
      const at = now();
      const text = rest + data;
      // A message may be cut anywhere; what follows its last line end waits for more.
      const end = text.lastIndexOf('\n');
      rest = text.slice(end + 1);
      for (const [, state] of text.slice(0, end + 1).matchAll(/"status":"([A-Z_]+)"/g)) {
        messages++;
        states[state] ??= at;
        resolve();
      }
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      if (!closing && states.COMPLETED === undefined) broken++;
      resolve();
    });
    socket.write(
      `GET /v1/queue/requests/${id}/status/stream HTTP/1.1\r\nHost: ${hostname}:${port}\r\n` +
        `Accept: text/event-stream\r\nAuthorization: ${authorization}\r\n\r\n`,
    );
  });
}

const left = [...ids];
async function openNext() {
  for (let id = left.pop(); id !== undefined; id = left.pop()) await open(id);
}

process.on('message', () => {
  closing = true;
  process.send({ seen, messages, broken }, () => process.exit(0));
});
process.on('disconnect', () => process.exit(0));
await Promise.all(Array.from({ length: opening }, openNext));
process.send('open');
