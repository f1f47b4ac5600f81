import { NEVER } from 'rxjs';
import { keyHeader } from '../support/built-service.js';
import { smallInput } from '../support/inputs.js';
import { interleave } from '../support/rounds.js';
import { plainRow, turnsRow } from '../support/rows.js';
import { median } from '../support/stats.js';
import { postScript } from '../support/wrk.js';

const submissions = 300_000;
const connections = 32;
const scrapeEveryMs = 1_000;
/** Turns of each subject. Turns of a tenth of a second sample every state of a shared machine. */
const countingTurns = 20;
const models = 100;
const outcomes = ['succeeded', 'failed', 'cancelled', 'expired'];

export const scene = {
  number: 30,
  name: 'metrics',
  title: 'what metrics cost',
  short: true,

  /** @param {import('../support/bench.js').Bench} bench */
  async run(bench) {
    const { counted, plain } = await countingSubjects(bench.built);
    const { on, off } = await interleave(countingTurns, {
      on: async () => nanosecondsEach(counted),
      off: async () => nanosecondsEach(plain),
    });
    const blockedMs = await longestPart(bench.built);
    const { scraped, unread } = await interleave(bench.rounds, await submitSubjects(bench));
    return [
      plainRow('µs to count a submission', (median(on) - median(off)) / 1_000, { most: 1 }),
      plainRow(`ms that a scrape of ${models} models blocks at once`, blockedMs, { most: 20 }),
      turnsRow('submits/s while scraped', scraped, 'not scraped', unread, { bar: { least: 0.95 } }),
      turnsRow('p99 ms while scraped', scraped, 'not scraped', unread, {
        field: 'p99',
        bar: { most: 1.2, tail: true },
      }),
    ];
  },
};

/** Everything that counts one submission: its event, its statement, its answer. */
async function countingSubjects(built) {
  const { events, database, accessLog } = await metricsOf(built);
  const noted = { request: { method: 'POST' }, status: 202, route: '/v1/queue/*model_id', durationMs: 0 };
  const submitted = [{ id: '01a1fbb3-65c9-706a-ab5f-d44e3660d916', modelId: 'bench/noop', inputBytes: 64 }];
  const emit = events['request.submitted'];
  return {
    counted: () => {
      const sentAt = performance.now();
      database.onStatement('submit', performance.now() - sentAt);
      emit(submitted);
      noted.durationMs = performance.now() - sentAt;
      accessLog.onExchange({ ...noted });
    },
    plain: () => submitted,
  };
}

function nanosecondsEach(count) {
  const started = process.hrtime.bigint();
  for (let i = 0; i < submissions; i++) count();
  return Number(process.hrtime.bigint() - started) / submissions;
}

/** Returns the longest time, in milliseconds, of rendering one metric. Callers are served between two metrics. */
async function longestPart(built) {
  const { registry, events } = await metricsOf(built);
  const id = '01a1fbb3-65c9-706a-ab5f-d44e3660d916';
  for (let model = 0; model < models; model++)
    for (const outcome of outcomes) {
      const request = { id, modelId: `bench/model-${model}`, inputBytes: 64, queueMs: 1, runMs: 1 };
      events['request.submitted']([request]);
      events['request.started']([request]);
      events['request.completed']([{ ...request, outcome, attemptOutcome: outcome, outputBytes: 64 }]);
    }
  let longestMs = 0;
  for (let round = 0; round < 10; round++) {
    const parts = [];
    for (const { name } of registry.getMetricsAsArray()) {
      const started = performance.now();
      await registry.getSingleMetricAsString(name);
      parts.push(performance.now() - started);
    }
    // In the first rounds the code is not compiled yet.
    if (round >= 3) longestMs = Math.max(longestMs, ...parts);
  }
  return longestMs;
}

/** The counters of a node, without the node. */
async function metricsOf(built) {
  const { Registry } = (await import('prom-client')).default;
  const { RequestMetrics } = await built.load('metrics/request-metrics.js');
  const { CallMetrics } = await built.load('metrics/call-metrics.js');
  const { OtherApis } = await built.load('http/other-apis.js');
  const [registry, events, accessLog, database] = [new Registry(), {}, {}, {}];
  const unchanging = { all: () => [], changes: NEVER };
  const hub = { on: (name, listener) => (events[name] = listener) };
  const counters = [
    new RequestMetrics(registry, unchanging, hub, { now: Date.now }),
    new CallMetrics(registry, accessLog, new OtherApis(), database, {}, hub),
  ];
  return { registry, events, accessLog, database, counters };
}

/** Two services, one of which is scraped once a second while it is loaded. */
async function submitSubjects(bench) {
  const script = postScript('/v1/queue/bench/held', smallInput, keyHeader);
  const env = { METRICS_ACCESS: 'open' };
  const start = async () => bench.service({ databaseUrl: await bench.serviceDatabase(), env });
  const services = { scraped: await start(), unread: await start() };
  const load = (service) => (seconds) => bench.load(service, script, { connections, seconds });
  const subjects = {
    scraped: (seconds) => whileScraped(services.scraped, () => load(services.scraped)(seconds)),
    unread: load(services.unread),
  };
  for (const warmUp of Object.values(subjects)) await warmUp(bench.warmUpSeconds);
  return subjects;
}

async function whileScraped({ url }, work) {
  let scrapes = 0;
  const scrape = async () => {
    const response = await fetch(`${url}/metrics`);
    if (!response.ok) throw new Error(`/metrics answered ${response.status}.`);
    await response.text();
    scrapes++;
  };
  const failures = [];
  const timer = setInterval(() => void scrape().catch((error) => failures.push(error)), scrapeEveryMs);
  const result = await work().finally(() => clearInterval(timer));
  if (failures.length > 0 || scrapes === 0) throw failures[0] ?? new Error('It was not scraped.');
  return result;
}
