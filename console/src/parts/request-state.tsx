import type { AdminRequest } from '../api/types';

export type ShownState = 'waiting' | 'running' | 'succeeded' | 'failed' | 'cancelled' | 'expired';

export function shownState({ status, outcome }: Pick<AdminRequest, 'status' | 'outcome'>): ShownState {
  if (status === 'IN_QUEUE') return 'waiting';
  if (status === 'IN_PROGRESS') return 'running';
  return outcome ?? 'failed';
}

const shapes: Record<ShownState, React.ReactNode> = {
  waiting: <circle cx="8" cy="8" r="5" />,
  running: <circle cx="8" cy="8" r="5" fill="currentcolor" />,
  succeeded: <path d="M3 8.5l3.5 3.5L13 4.5" />,
  failed: <path d="M4 4l8 8M12 4l-8 8" />,
  cancelled: (
    <>
      <circle cx="8" cy="8" r="5" />
      <path d="M4.5 11.5l7-7" />
    </>
  ),
  expired: (
    <>
      <circle cx="8" cy="8" r="5" />
      <path d="M8 5v3l2 1.5" />
    </>
  ),
};

interface StateProps {
  state: ShownState;
  /** Overrides the word where the state is not that of a request. */
  word?: string;
  note?: string | undefined;
}

/**
 * Merges a stream's status into a request. The stream reports success and error, from which the outcome follows. A
 * request that was read as completed is final: an older status of a stream that broke does not change it.
 */
export function followedBy<T extends AdminRequest>(read: T, told: Partial<AdminRequest>): T {
  if (read.status === 'COMPLETED') return read;
  const request = { ...read, ...told };
  if (request.status !== 'COMPLETED') return { ...request, outcome: null };
  if (request.outcome !== null || request.success === undefined) return request;
  const code = request.error?.code;
  const bad = code === 'cancelled' || code === 'expired' ? code : 'failed';
  return { ...request, outcome: request.success ? 'succeeded' : bad };
}

/** Shows a state by colour, shape and word. */
export function State({ state, word = state, note }: StateProps) {
  return (
    <span className="state" data-state={state}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        {shapes[state]}
      </svg>
      {word}
      {note !== undefined && <code>{note}</code>}
    </span>
  );
}

/** Returns the error's code if it adds something to the outcome. */
export const codeOf = ({ error, outcome }: AdminRequest): string | undefined =>
  error && error.code !== outcome ? error.code : undefined;
