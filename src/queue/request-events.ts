import type { AttemptOutcome, Outcome } from './request-state.js';

export interface SubmittedRequest {
  id: string;
  modelId: string;
  keyId: string;
  /** Of the input; undefined: it was on disk already. */
  inputBytes?: number | undefined;
}

interface RequestRun {
  id: string;
  modelId: string;
  /** As its status has it: 1 for the first, and runs that never reached the model do not count. */
  attempt: number;
}

export interface StartedRequest extends RequestRun {
  /** How long it waited once it might start; undefined: it was started before. */
  queueMs?: number | undefined;
  /** It is to find out whether its model is there again. */
  isProbe?: boolean;
}

export interface AttemptFailure {
  code: string;
  message: string;
  /** What its caller is answered; undefined: another attempt follows. */
  status?: number | undefined;
  /** What the runner broke with, where it did not fail on purpose. */
  cause?: Error | undefined;
}

export interface RequeuedRequest extends RequestRun {
  /** Of a run of this node that failed. */
  runMs?: number | undefined;
  /** `unreached`: its model was away; `returned`: the node did not finish it; `lost`: the node was lost. */
  reason: Exclude<AttemptOutcome, 'succeeded' | 'cancelled'>;
  /** What was `lost`. */
  lost?: 'node' | 'worker';
  delayMs: number;
  failure?: AttemptFailure | undefined;
}

/** Its `attempt` is 0 if it never ran. */
export interface CompletedRequest extends RequestRun {
  outcome: Outcome;
  /** Of the run that it ended with; undefined: it was waiting. */
  attemptOutcome?: AttemptOutcome | undefined;
  outputBytes?: number | undefined;
  /** Of the last run, where it was this node's. */
  runMs?: number | undefined;
  failure?: AttemptFailure | undefined;
}

/**
 * What `@OnEvent(name)` is handed: what one commit of this node changed, after it and once at most. A process that
 * dies publishes nothing, so what must not be lost is a completion hook.
 */
export interface RequestEvents {
  'request.submitted': readonly SubmittedRequest[];
  /** Of many in one call, those that were not taken. */
  'submission.refused': readonly { code: string }[];
  'request.started': readonly StartedRequest[];
  'request.requeued': readonly RequeuedRequest[];
  'request.completed': readonly CompletedRequest[];
  /** Nodes without heartbeats, whose runs are taken over. */
  'node.lost': readonly { id: string; name: string }[];
}
