export type RequestState = 'IN_QUEUE' | 'IN_PROGRESS' | 'COMPLETED';
export type Outcome = 'succeeded' | 'failed' | 'cancelled' | 'expired';

/** The end of one run, as the `attempt` table stores it; `unreached`: before it reached its model. */
export type AttemptOutcome =
  'succeeded' | 'failed' | 'timed_out' | 'cancelled' | 'returned' | 'lost' | 'unreached';

export interface Transition {
  /** null: the request did not exist. */
  readonly from: RequestState | null;
  readonly verb: 'submit' | 'claim' | 'cancel' | 'expire' | 'finish' | 'requeue' | 'rescue';
  readonly to: RequestState;
  /** The possible outcomes of the request when the verb completes it. */
  readonly outcomes: readonly Outcome[];
}

/** Every change of state. docs/states.md draws them, and a test compares the two. */
export const transitions: readonly Transition[] = [
  { from: null, verb: 'submit', to: 'IN_QUEUE', outcomes: [] },
  { from: null, verb: 'submit', to: 'IN_PROGRESS', outcomes: [] },
  { from: 'IN_QUEUE', verb: 'claim', to: 'IN_PROGRESS', outcomes: [] },
  { from: 'IN_QUEUE', verb: 'cancel', to: 'COMPLETED', outcomes: ['cancelled'] },
  { from: 'IN_QUEUE', verb: 'expire', to: 'COMPLETED', outcomes: ['expired'] },
  { from: 'IN_PROGRESS', verb: 'finish', to: 'COMPLETED', outcomes: ['succeeded', 'failed', 'cancelled'] },
  { from: 'IN_PROGRESS', verb: 'requeue', to: 'IN_QUEUE', outcomes: [] },
  { from: 'IN_PROGRESS', verb: 'rescue', to: 'IN_QUEUE', outcomes: [] },
  { from: 'IN_PROGRESS', verb: 'rescue', to: 'COMPLETED', outcomes: ['failed', 'cancelled'] },
];
