import { fork } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { keyHeader } from '../support/built-service.js';
import { nextMessage } from '../support/child.js';
import { cpuMsOf, cpuMsOfChildren } from '../support/cpu.js';
import { smallInput } from '../support/inputs.js';
import { plainRow, promiseRow, shown } from '../support/rows.js';
import { percentile } from '../support/stats.js';

const streams = 200;
const perSecond = 50;
const client = fileURLToPath(new URL('../support/output-client.js', import.meta.url));

export const scene = {
  number: 31,
  name: 'deltas',
  title: `${streams} outputs, ${perSecond} words/s each`,
  /** @param {import('../support/bench.js').Bench} bench */
  run: (bench) => measureStreams(bench, { model: 'bench/deltas', body: smallInput, mostCores: 0.5 }),
};

/**
 * Lets a model emit words in all its runs, while a reader follows each output.
 * @param {import('../support/bench.js').Bench} bench
 * @param {{ model: string, body: string, mostCores: number }} options
 */
export async function measureStreams(bench, { model, body, mostCores }) {
  const seconds = bench.short ? 5 : 30;
  const service = await bench.service({ databaseUrl: await bench.serviceDatabase() });
  const ids = await Promise.all(Array.from({ length: streams }, () => submit(service, model, body)));
  await bench.model.speakers(streams);
  const reading = await read(bench, service, ids);
  const before = [cpuMsOf(service.pid), cpuMsOfChildren(bench.postgres.pid)];
  const began = performance.now();
  const words = await bench.model.speak(perSecond, seconds);
  const tookMs = performance.now() - began;
  const after = [cpuMsOf(service.pid), cpuMsOfChildren(bench.postgres.pid)];
  const [cores, postgresCores] = after.map((ms, i) => (ms - before[i]) / tookMs);
  reading.send('done');
  const { lateMs, wrong, done } = await nextMessage(reading);
  const isWhole = wrong === 0 && lateMs.length === words && done === streams;
  return [
    promiseRow(
      'every word once and in order',
      isWhole,
      `${lateMs.length} of ${words}, ${wrong} wrong, ${done} done`,
    ),
    plainRow('p99 ms from the model to the reader', percentile(lateMs, 99), { most: 200 }),
    shown(plainRow('p50 ms from the model to the reader', percentile(lateMs, 50))),
    plainRow('cores, Node', cores, { most: mostCores }),
    plainRow('cores, PostgreSQL', postgresCores),
    plainRow('words/s', words / (tookMs / 1_000)),
  ];
}

async function submit({ url }, model, body) {
  const answer = await fetch(`${url}/v1/queue/${model}`, { method: 'POST', headers: keyHeader, body });
  return (await answer.json()).request_id;
}

async function read(bench, service, ids) {
  const file = join(bench.directory, 'output-ids');
  writeFileSync(file, ids.join('\n'));
  const child = fork(client, [service.url, file, keyHeader.Authorization]);
  bench.atEndOfScene(async () => void child.kill());
  await nextMessage(child);
  return child;
}
