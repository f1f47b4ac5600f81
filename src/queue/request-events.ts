import type { AttemptOutcome, Outcome } from './request-state.js';

export interface SubmittedRequest {
  id: string;
  modelId: string;
  keyId: string;
  /** Bytes of the input; undefined: it was stored already. */
  inputBytes?: number | undefined;
}

interface RequestRun {
  id: string;
  modelId: string;
  /** The attempt as its status counts it: the first is 1, and runs that never reached the model do not count. */
  attempt: number;
}

export interface StartedRequest extends RequestRun {
  /** How long it waited once it could start; undefined: it was started before. */
  queueMs?: number | undefined;
  /** True: its run finds out whether the model is there again. */
  isProbe?: boolean;
}

/** A request whose run has emitted something. */
interface ProgressedRequest {
  id: string;
  /** null: it has emitted no progress. */
  progress: { value: number; message: string | null } | null;
  hasLogs: boolean;
  hasOutput: boolean;
}

export interface AttemptFailure {
  code: string;
  message: string;
  /** The HTTP status that its caller gets; undefined: another attempt follows. */
  status?: number | undefined;
  /** The error by which the runner broke, unless it failed on purpose. */
  cause?: Error | undefined;
}

export interface RequeuedRequest extends RequestRun {
  /** How long a failed run of this node took. */
  runMs?: number | undefined;
  /** `unreached`: its model was away; `returned`: the node did not finish it; `lost`: the node was lost. */
  reason: Exclude<AttemptOutcome, 'succeeded' | 'cancelled'>;
  /** The party that was lost, if the reason is `lost`. */
  lost?: 'node' | 'worker';
  delayMs: number;
  failure?: AttemptFailure | undefined;
}

/** A request that ended. Its `attempt` is 0 if it never ran. */
export interface CompletedRequest extends RequestRun {
  outcome: Outcome;
  /** How its last run ended; undefined: it was waiting. */
  attemptOutcome?: AttemptOutcome | undefined;
  outputBytes?: number | undefined;
  /** How long the last run took, if it was this node's. */
  runMs?: number | undefined;
  failure?: AttemptFailure | undefined;
}

/**
 * The events of `@OnEvent(name)`: what one commit of this node changed, published after it and at most once. A
 * process that dies publishes nothing, so what must not be lost is a hook (`transition-hooks.ts`).
 */
export interface RequestEvents {
  'request.submitted': readonly SubmittedRequest[];
  /** Submissions in one call for many that were not accepted. */
  'submission.refused': readonly { code: string }[];
  'request.started': readonly StartedRequest[];
  /** What runs have emitted, once it is stored. */
  'request.progressed': readonly ProgressedRequest[];
  'request.requeued': readonly RequeuedRequest[];
  'request.completed': readonly CompletedRequest[];
  /** Nodes without heartbeats, whose runs are taken over. */
  'node.lost': readonly { id: string; name: string }[];
}
