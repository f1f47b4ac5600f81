import { readFileSync } from 'node:fs';
import { connect } from 'node:net';

/*
 * Reads the output of each request in a file while it grows, as raw as it can. Each delta holds words of a number and the
 * time when the model sent it. Says `open` when all connections are, and when it is asked how late each word was, and
 * how many came twice, late or not at all.
 */
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
      resolve();
      const now = performance.timeOrigin + performance.now();
      const received = rest + data;
      const end = received.lastIndexOf('\n');
      rest = received.slice(end + 1);
      for (const [, text] of received.slice(0, end + 1).matchAll(/"delta":"([^"]*)"/g)) {
        for (const word of text.trim().split(' ')) {
          const [number, at] = word.split(':').map(Number);
          if (number !== next++) wrong++;
          lateMs.push(now - at);
        }
      }
      if (received.includes('event: done')) done++;
    });
    socket.on('error', () => undefined);
  });

process.on('message', () => process.send({ lateMs, wrong, done }, () => process.exit(0)));
process.on('disconnect', () => process.exit(0));
await Promise.all(readFileSync(idsFile, 'utf8').split('\n').map(open));
process.send('open');
