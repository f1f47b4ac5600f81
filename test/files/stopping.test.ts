import { get, type IncomingMessage } from 'node:http';
import { FileCalls, someBytes } from '../support/file-calls.js';
import { startTestService, type TestService, until } from '../support/index.js';
import { Cluster } from '../../src/queue/cluster/cluster.js';

/** More than the sockets between us hold. */
const bytes = someBytes(40_000_000);

/** A download that has begun, and of which nothing more is read. */
async function begin(service: TestService): Promise<IncomingMessage> {
  const url = await new FileCalls(service).store(bytes);
  const answer = await new Promise<IncomingMessage>((resolve, reject) =>
    get(url, resolve).on('error', reject),
  );
  answer.pause();
  return answer;
}

/** How many bytes came, and whether those were all. */
async function rest(answer: IncomingMessage): Promise<{ count: number; isWhole: boolean }> {
  let count = 0;
  try {
    for await (const chunk of answer) count += (chunk as Buffer).length;
  } catch {
    // broken off
  }
  return { count, isWhole: answer.complete };
}

/** The service has let its runs end and given back what it had; its answers are what is left. */
function isLeaving({ app, query }: TestService): Promise<unknown> {
  const { nodeId } = app.get(Cluster);
  return until(async () => (await query('SELECT FROM node WHERE id = $1', [nodeId])).length === 0);
}

test('a download under way ends whole while the service stops', async () => {
  const service = await startTestService({ limits: 'off', config: { shutdownGraceMs: 3_600_000 } });
  const download = await begin(service);
  const leaving = isLeaving(service);
  const stopped = service.stop();
  await leaving;
  expect(await rest(download)).toEqual({ count: bytes.length, isWhole: true });
  await stopped;
});

test('a download that does not end within the grace is broken off, never ended', async () => {
  const service = await startTestService({ limits: 'off', config: { shutdownGraceMs: 0 } });
  const download = await begin(service);
  await service.stop();
  const { count, isWhole } = await rest(download);
  expect(isWhole).toBe(false);
  expect(count).toBeLessThan(bytes.length);
});
