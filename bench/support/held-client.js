import { connect } from 'node:net';
import { readFileSync } from 'node:fs';

/**
 * A process of its own that holds a status call (`Prefer: wait=60`) open for each id in a file, as raw as it can, so that
 * it eats little of the cores it measures; one whose time is over it calls again. Notes when each was answered with the end, by the
 * machine's clock, and how many answers came. Says `open` when all have been sent, and its notes when it is asked.
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
  const states = (seen[id] = {});
  const call =
    `GET /v1/queue/requests/${id}/status HTTP/1.1\r\nHost: ${hostname}:${port}\r\n` +
    `Prefer: wait=60\r\nAuthorization: ${authorization}\r\n\r\n`;
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => socket.write(call, resolve));
    let text = '';
    socket.setEncoding('latin1');
    socket.on('data', (data) => {
      const at = now();
      text += data;
      const head = text.indexOf('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1]);
      if (head === -1 || text.length < head + 4 + length) return;
      messages++;
      const [, state] = /"status":"([A-Z_]+)"/.exec(text) ?? [];
      text = '';
      if (state === undefined) return void socket.destroy();
      states[state] ??= at;
      if (state === 'COMPLETED') socket.end();
      else socket.write(call);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      if (!closing && states.COMPLETED === undefined) broken++;
      resolve();
    });
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
