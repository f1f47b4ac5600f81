import { type FaultRow, faultRows } from './fault-table.js';
import { readBooks } from './checks/books.js';
import { checkConcurrency } from './checks/check-concurrency.js';
import { checkIdempotency } from './checks/check-idempotency.js';
import { checkLimits } from './checks/check-limits.js';
import { checkLogs } from './checks/check-logs.js';
import { checkRecovery } from './checks/check-recovery.js';
import { checkRequests } from './checks/check-requests.js';
import { now, sleep, within } from './clock.js';
import { Cluster, limits } from './cluster/cluster.js';
import { GrantHistory } from './cluster/grant-history.js';
import { faultKinds, Schedule } from './faults/schedule.js';
import { HeldLine } from './load/held-line.js';
import { Ledger } from './load/ledger.js';
import { Load } from './load/load.js';
import { ModelServer } from './model/model-server.js';
import type { Options } from './options.js';
import { Random } from './random.js';
import { report } from './report.js';

/** Between two looks at the positions, for which faults pause. */
const roundMs = 60_000;
const drainMs = 150_000;

export interface Result {
  requests: number;
  runs: number;
  faults: number;
  violations: number;
  rows: FaultRow[];
}

/** Start, break, heal, drain, check the books, tell. */
export async function runChaos(options: Options, print: (text: string) => void): Promise<Result> {
  const random = new Random(String(options.seed));
  const ledger = new Ledger();
  const model = new ModelServer();
  const cluster = new Cluster(options.processes, options.pgbouncer, random.fork('cluster'));
  const stopped = stopOnSignals(() => cluster.stop(options.keep));
  try {
    await model.start();
    await cluster.start(model.url);
    for (const node of cluster.nodes) {
      node.onUnexpectedExit = (said) => ledger.violate('no process ends by itself', `${node.name}: ${said}`);
    }
    const load = new Load(cluster, ledger, random);
    const line = new HeldLine(cluster, load.client, load.submitter, ledger, random.fork('held'));
    const kinds = faultKinds.filter(({ name }) => options.only.length === 0 || options.only.includes(name));
    const schedule = new Schedule(cluster, model.book, load, ledger, random.fork('faults'), kinds);

    const grants = new GrantHistory(cluster.postgres);
    void grants.watch();
    load.start();
    const deadline = now() + options.seconds * 1_000;
    while (now() < deadline) {
      await line.fill();
      await schedule.run(Math.min(deadline, now() + roundMs));
      await line.audit();
      model.release();
      print(
        `${Math.max(0, Math.round((deadline - now()) / 1_000))} s to go, ${schedule.records.length} faults, ${ledger.accepted.size} accepted, ${ledger.violations.length} violations`,
      );
    }
    load.stopSubmitting();
    grants.stop();
    await drain(cluster, model);
    if (!(await load.finish(60_000)))
      ledger.violate('every caller sees the end of its request', 'some did not in 60 s');

    const books = await readBooks(cluster);
    checkRequests(books, ledger, model.book);
    checkLogs(books, ledger, model.book);
    checkIdempotency(books, ledger);
    checkLimits(ledger, limits);
    checkRecovery(schedule.records, model.book, ledger);
    const peaks = checkConcurrency(model.book, cluster.nodes, grants, ledger);
    const rows = faultRows(schedule.records, ledger, books, model.book);
    print(
      report({
        cluster,
        books,
        ledger,
        runs: model.book,
        records: schedule.records,
        rows,
        peaks,
        exactAfterMs: line.exactAfterMs,
        worstCallMs: load.client.worstMs,
      }),
    );
    return {
      requests: books.requests.size,
      runs: model.book.runs.length,
      faults: schedule.records.length,
      violations: ledger.violations.length,
      rows,
    };
  } finally {
    await stopped();
    await model.stop();
  }
}

/** Until nothing waits and nothing runs; what is left after that, the books tell. */
async function drain(cluster: Cluster, model: ModelServer): Promise<void> {
  await within(drainMs, async () => {
    model.release();
    const [left] = await cluster.postgres.query<{ rows: number }>(
      `SELECT ((SELECT count(*) FROM queue_entry) + (SELECT count(*) FROM delayed_entry)
               + (SELECT count(*) FROM lease))::integer AS rows`,
    );
    if (left!.rows > 0) await sleep(400);
    return left!.rows === 0;
  });
}

/** Cleans up once, whether the run ends or is interrupted. */
function stopOnSignals(stop: () => Promise<void>): () => Promise<void> {
  let stopping: Promise<void> | undefined;
  const stopOnce = (): Promise<void> => (stopping ??= stop());
  const interrupted = (): void => void stopOnce().finally(() => process.exit(130));
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  return async () => {
    await stopOnce();
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
  };
}
