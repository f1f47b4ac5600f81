import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/*
 * Reads the output of each request in a file while it grows, with as little work as possible. Each delta has the
 * numbers of its words and the time at which the model sent it. Prints `open` when all connections are open. When
 * asked, it waits for the ends, and reports the delay of each word, the words out of order, and the completed outputs.
 */
const patienceMs = 20_000;
const [, , url, idsFile, authorization] = process.argv;
const { hostname, port } = new URL(url);
const lateMs = [];
let wrong = 0;
let done = 0;

const open = (id) =>
  new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    let rest = '';
    let next = 0;
    socket.setEncoding('latin1');
    socket.write(
      `GET /v1/queue/requests/${id}/output/stream HTTP/1.1\r\nHost: ${hostname}:${port}\r\n` +
        `Accept: text/event-stream\r\nAuthorization: ${authorization}\r\n\r\n`,
    );
    socket.on('data', (data) => {
      if (/^HTTP\/1\.1 [45]/.test(data)) throw new Error(`A call was refused:\n${String(data)}`);
      resolve();
      const now = performance.timeOrigin + performance.now();
      const received = rest + data;
      const end = received.lastIndexOf('\n');
      rest = received.slice(end + 1);
      const lines = received.slice(0, end + 1);
      for (const [, text] of lines.matchAll(/"delta":"([^"]*)"/g)) {
        for (const word of text.trim().split(' ')) {
          const [number, at] = word.split(':').map(Number);
          if (number !== next++) wrong++;
          lateMs.push(now - at);
        }
      }
      if (lines.includes('event: done')) done++;
    });
    socket.on('error', () => undefined);
  });

const ids = readFileSync(idsFile, 'utf8').split('\n');
async function report() {
  for (const until = performance.now() + patienceMs; done < ids.length && performance.now() < until;)
    await delay(100);
  process.send({ lateMs, wrong, done }, () => process.exit(0));
}
process.on('message', () => void report());
process.on('disconnect', () => process.exit(0));
await Promise.all(ids.map(open));
process.send('open');
