import type { AdminBatch } from '../api/types';
import { whole } from '../format/quantities';
import { type ShownState, State } from '../parts/request-state';

export const batchStatuses = [
  'validating',
  'in_progress',
  'finalizing',
  'completed',
  'failed',
  'cancelling',
  'cancelled',
  'expired',
] as const satisfies readonly AdminBatch['status'][];

/** The state of a request whose colour and shape a status has. */
const shown: Record<AdminBatch['status'], ShownState> = {
  validating: 'waiting',
  in_progress: 'running',
  finalizing: 'running',
  completed: 'succeeded',
  failed: 'failed',
  cancelling: 'cancelled',
  cancelled: 'cancelled',
  expired: 'expired',
};

export const statusWord = (status: AdminBatch['status']): string => status.replace('_', ' ');

export const BatchState = ({ status }: Pick<AdminBatch, 'status'>) => (
  <State state={shown[status]} word={statusWord(status)} />
);

/** Returns how many lines are done, in whatever way. */
export const doneOf = ({ completed, failed, cancelled, expired }: AdminBatch['counts']): number =>
  completed + failed + cancelled + expired;

/** Shows how many of the lines are done. */
export function Lines({ batch: { counts, ended_at } }: { batch: AdminBatch }) {
  const { total } = counts;
  if (total === null) return <span className="muted">{ended_at === null ? 'being read' : 'none'}</span>;
  const done = doneOf(counts);
  return (
    <span className="progress">
      <progress max={Math.max(total, 1)} value={done} aria-label="Lines that are done" />
      <span>
        {whole(done)} of {whole(total)}
      </span>
    </span>
  );
}
