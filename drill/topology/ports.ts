import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below the ports that Linux gives to outgoing connections, which could have one while its server is restarted. */
const range = { low: 15_000, high: 31_000 };

/**
 * Returns ports of 127.0.0.1 without a listener, which servers keep over their restarts. The seed does not decide them:
 * two drills at a time would get the same ones, and one of them a port whose server the other restarts.
 */
export async function fixedPorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  for (let port = randomInt(range.low, range.high); ports.length < count; port++) {
    if (await isFree(port)) ports.push(port);
  }
  return ports;
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((done) => {
    server.once('error', () => done(false));
    server.listen(port, '127.0.0.1', () => server.close(() => done(true)));
  });
}
