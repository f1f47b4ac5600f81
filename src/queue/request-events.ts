import type { AttemptOutcome, Outcome } from './request-state.js';

export interface StartedRequest {
  id: string;
  modelId: string;
  /** As its status has it: 1 for the first, and runs that never reached the model do not count. */
  attempt: number;
}

export interface AttemptFailure {
  code: string;
  message: string;
  /** What the runner broke with, where it did not fail on purpose. */
  cause?: Error | undefined;
}

export interface RequeuedRequest extends StartedRequest {
  /** Of a run of this node that failed. */
  runMs?: number | undefined;
  /** `unreached`: its model was away; `returned`: the node did not finish it; `lost`: the node was lost. */
  reason: Exclude<AttemptOutcome, 'succeeded' | 'cancelled'>;
  delayMs: number;
  failure?: AttemptFailure | undefined;
}

/** Its `attempt` is 0 if it never ran. */
export interface CompletedRequest extends StartedRequest {
  outcome: Outcome;
  /** Of the last run, where it was this node's. */
  runMs?: number | undefined;
  failure?: AttemptFailure | undefined;
}

/**
 * What `@OnEvent(name)` is handed: what one commit of this node changed, after it and once at most. A process that
 * dies publishes nothing, so what must not be lost is a completion hook.
 */
export interface RequestEvents {
  'request.submitted': readonly { id: string; modelId: string; keyId: string }[];
  'request.started': readonly StartedRequest[];
  'request.requeued': readonly RequeuedRequest[];
  'request.completed': readonly CompletedRequest[];
  /** Nodes without heartbeats, whose runs are taken over. */
  'node.lost': readonly { id: string; name: string }[];
}
