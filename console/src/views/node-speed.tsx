import { Link } from 'wouter';
import { query } from '../api/client';
import type { AdminNode } from '../api/types';
import { duration, whole } from '../format/quantities';

export type OfModel = AdminNode['models'][number];

/** A node is slow from this multiple of the fastest node's median. */
const slowFrom = 1.5;

/** Returns the ratio of the node's median run time to that of the fastest node. */
function timesFastest({ model_id, run_time }: OfModel, all: readonly AdminNode[]): number {
  if (run_time === null) return 1;
  const medians = all.flatMap(({ models }) =>
    models.flatMap((one) => (one.model_id === model_id && one.run_time ? one.run_time.p50 : [])),
  );
  return run_time.p50 / Math.max(0.001, Math.min(...medians));
}

/** Lists the slow nodes above the cards of all nodes. */
export function Slow({ nodes }: { nodes: readonly AdminNode[] }) {
  const slow = nodes.flatMap((node) => {
    const models = node.models.filter((model) => timesFastest(model, nodes) >= slowFrom);
    return models.length === 0 ? [] : { node, models };
  });
  return slow.map(({ node: { id, name }, models }) => (
    <p className="trouble paused" key={id}>
      {name} is slow. Its median run time in the last hour, compared with the fastest node:{' '}
      {models.map((model) => `${model.model_id} ${timesFastest(model, nodes).toFixed(1)} times`).join(', ')}.
    </p>
  ));
}

export function RunTime({ model, all }: { model: OfModel; all: readonly AdminNode[] }) {
  const { run_time } = model;
  if (run_time === null) return <span className="muted">–</span>;
  const times = timesFastest(model, all);
  return (
    <>
      {duration(run_time.p50 * 1_000)} · {duration(run_time.p95 * 1_000)}{' '}
      {times >= slowFrom && <span className="chip warn">slow, {times.toFixed(1)} times the fastest</span>}
    </>
  );
}

export function Failed({
  node,
  model: { model_id, recent_runs: runs, recent_failed: failed },
}: {
  node: string;
  model: OfModel;
}) {
  if (runs === 0) return <span className="muted">–</span>;
  if (failed === 0) return <span className="muted">0 of {whole(runs)}</span>;
  return (
    <Link className="bad" href={`/requests${query({ outcome: 'failed', model_id, node })}`}>
      {whole(failed)} of {whole(runs)}
    </Link>
  );
}
