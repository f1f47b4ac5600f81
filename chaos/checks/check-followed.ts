import type { Ledger } from '../load/ledger.js';
import { followedModel, type FollowedJobs, type Job } from '../model/followed-jobs.js';
import type { StoredState } from './stored-state.js';

/** Checks that each attempt is one run at its server, whatever becomes of the nodes, and that its output is stored. */
export function checkFollowed({ requests }: StoredState, { all }: FollowedJobs, ledger: Ledger): void {
  const ofAttempt = new Map<string, Job>();
  for (const job of all.values()) {
    const { id, requestId, attempt, starts } = job;
    if (starts > 1)
      ledger.violate('a run is started once at its server', `${id}: ${starts} starts`, requestId);
    const other = ofAttempt.get(`${requestId} ${attempt}`);
    if (other !== undefined)
      ledger.violate(
        'an attempt is one run at its server',
        `attempt ${attempt}: ${other.id}, ${id}`,
        requestId,
      );
    ofAttempt.set(`${requestId} ${attempt}`, job);
  }
  for (const row of requests.values()) {
    if (row.modelId !== followedModel || row.outcome !== 'succeeded') continue;
    const { run } = (row.output ?? {}) as { run?: string };
    const job = all.get(run ?? '');
    if (job?.requestId !== row.id || job.isCancelled)
      ledger.violate('a success is the output of a run of its request', JSON.stringify(row.output), row.id);
  }
  const returned = [...requests.values()].filter(
    ({ modelId, attempts }) =>
      modelId === followedModel && attempts.some(({ outcome }) => outcome === 'returned'),
  );
  ledger.count('runs that went on at their server', all.size);
  ledger.count('requests whose runs another node took up', returned.length);
}
