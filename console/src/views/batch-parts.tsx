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

/** Each status has the colour and shape of a request state. */
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

/** Returns the number of lines that have an outcome. */
export const doneOf = ({ completed, failed, cancelled, expired }: AdminBatch['counts']): number =>
  completed + failed + cancelled + expired;

/** Shows the progress of the lines. */
export function Lines({ batch: { counts, ended_at } }: { batch: AdminBatch }) {
  const { total } = counts;
  if (total === null) return <span className="muted">{ended_at === null ? 'being read' : 'none'}</span>;
  const done = doneOf(counts);
  return (
    <span className="progress">
      <progress max={Math.max(total, 1)} value={done} aria-label="Lines done" />
      <span>
        {whole(done)} of {whole(total)}
      </span>
    </span>
  );
}
