import { connect } from 'node:net';
import { readFileSync } from 'node:fs';

const opening = 100;

/**
 * Watches requests for a scene. The process opens a connection for each id in a file, with as little work as possible,
 * so that it uses little of the measured cores. It records when each request first showed each state, by the machine's
 * clock, and how many messages came. It prints `open` when all connections are open, and its records when it is asked.
 * @param {{ path: string, field: string }} call the path after the id, and a header
 * @param {(watched: { socket: import('node:net').Socket, text: string, isOpen: () => void }) =>
 * (data: string, note: (state: string) => void) => void} watch sends the call, and reads the answer
 */
export async function watchEach({ path, field }, watch) {
  const [, , url, idsFile, authorization] = process.argv;
  const { hostname, port } = new URL(url);
  const seen = {};
  let messages = 0;
  let broken = 0;
  let closing = false;

  const open = (id) =>
    new Promise((resolve) => {
      const states = (seen[id] = {});
      const socket = connect(Number(port), hostname);
      const text =
        `GET /v1/queue/requests/${id}/${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\n` +
        `${field}\r\nAuthorization: ${authorization}\r\n\r\n`;
      const read = watch({ socket, text, isOpen: resolve });
      socket.setEncoding('latin1');
      socket.on('data', (data) => {
        const at = performance.timeOrigin + performance.now();
        if (/^HTTP\/1\.1 [45]/.test(data)) throw new Error(`A call was refused:\n${String(data)}`);
        read(data, (state) => {
          messages++;
          states[state] ??= at;
        });
      });
      socket.on('error', () => undefined);
      socket.on('close', () => {
        if (!closing && states.COMPLETED === undefined) broken++;
        resolve();
      });
    });

  process.on('message', () => {
    closing = true;
    process.send({ seen, messages, broken }, () => process.exit(0));
  });
  process.on('disconnect', () => process.exit(0));
  const left = readFileSync(idsFile, 'utf8').split('\n');
  const openNext = async () => {
    for (let id = left.pop(); id !== undefined; id = left.pop()) await open(id);
  };
  await Promise.all(Array.from({ length: opening }, openNext));
  process.send('open');
}
