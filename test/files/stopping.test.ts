import { get, type IncomingMessage } from 'node:http';
import { FileCalls, someBytes } from '../support/file-calls.js';
import { startTestService, type TestService, until } from '../support/index.js';
import { Cluster } from '../../src/queue/cluster/cluster.js';

/** More bytes than the sockets between client and service buffer. */
const bytes = someBytes(40_000_000);

/** Begins a download, and reads nothing more of it. */
async function begin(service: TestService): Promise<IncomingMessage> {
  const url = await new FileCalls(service).store(bytes);
  const answer = await new Promise<IncomingMessage>((resolve, reject) =>
    get(url, resolve).on('error', reject),
  );
  answer.pause();
  return answer;
}

/** Returns how many bytes came, and whether the body was complete. */
async function rest(answer: IncomingMessage): Promise<{ count: number; isWhole: boolean }> {
  let count = 0;
  try {
    for await (const chunk of answer) count += (chunk as Buffer).length;
  } catch {
    // the connection broke
  }
  return { count, isWhole: answer.complete };
}

/** Waits until the service has ended its runs and has deleted its row in `node`; only answers are still under way. */
function isLeaving({ app, query }: TestService): Promise<unknown> {
  const { nodeId } = app.get(Cluster);
  return until(async () => (await query('SELECT FROM node WHERE id = $1', [nodeId])).length === 0);
}

test('a current download completes while the service stops', async () => {
  const service = await startTestService({ limits: 'off', config: { shutdownGraceMs: 3_600_000 } });
  const download = await begin(service);
  const leaving = isLeaving(service);
  const stopped = service.stop();
  await leaving;
  expect(await rest(download)).toEqual({ count: bytes.length, isWhole: true });
  await stopped;
});

test('a download that exceeds the grace period is broken off, and never looks complete', async () => {
  const service = await startTestService({ limits: 'off', config: { shutdownGraceMs: 0 } });
  const download = await begin(service);
  await service.stop();
  const { count, isWhole } = await rest(download);
  expect(isWhole).toBe(false);
  expect(count).toBeLessThan(bytes.length);
});
