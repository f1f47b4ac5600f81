import { Link } from 'wouter';
import { query } from '../api/client';
import type { AdminNode } from '../api/types';
import { counted } from '../format/quantities';
import { nodeWord } from '../parts/node-state';
import { Ago, Time } from '../parts/time';

/** Shows a lost node and what happened to its runs. */
export function LostNode({
  node: { name, version, state, heartbeat_at, lost_at, lost_runs },
}: {
  node: AdminNode;
}) {
  const runs = lost_runs ?? 0;
  return (
    <section className="card stack" aria-label={`Node ${name}`}>
      <div className="row">
        <h2>{name}</h2>
        <span className="chip warn">{nodeWord(state)}</span>
        <span className="muted">
          <Ago at={lost_at} />, version {version}
        </span>
        <span className="end">
          <Link className="button" href={`/requests${query({ node: name })}`}>
            Its requests
          </Link>
        </span>
      </div>
      <p className="trouble">
        Last heartbeat at <Time at={heartbeat_at} />, lost since <Time at={lost_at} />.{' '}
        {runs === 0
          ? 'It had no runs.'
          : `It had ${counted(runs, 'run')}, which returned to the queue or ended.`}
      </p>
    </section>
  );
}
