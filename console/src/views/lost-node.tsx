import { Link } from 'wouter';
import { query } from '../api/client';
import type { AdminNode } from '../api/types';
import { counted } from '../format/quantities';
import { nodeWord } from '../parts/node-state';
import { Ago, Time } from '../parts/time';

/** A node that the others gave up. There is nothing to do with it, so this shows what became of its runs. */
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
            What it ran
          </Link>
        </span>
      </div>
      <p className="trouble">
        Silent since <Time at={heartbeat_at} />, given up by the others at <Time at={lost_at} />.{' '}
        {runs === 0
          ? 'It ran nothing then.'
          : `It had ${counted(runs, 'run')}, which went back to ${runs === 1 ? 'its queue' : 'their queues'} or ended.`}
      </p>
    </section>
  );
}
