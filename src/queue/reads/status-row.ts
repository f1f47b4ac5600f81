import type { Usage } from '../runs/usage.js';
import type { Estimate } from '../estimates/estimate.js';
import type { Progress } from '../runs/queries/append-events.js';
import type { Outcome, RequestState } from '../request-state.js';
import type { RequestError } from '../request-errors.js';

/** A request without its payloads. */
export interface RequestRow {
  id: string;
  modelId: string;
  keyId: string;
  state: RequestState;
  outcome: Outcome | null;
  priority: number;
  /** Its virtual start. */
  start: number;
  seq: number;
  /** How often it was started. */
  attempt: number;
  failedAttempts: number;
  lostAttempts: number;
  error: RequestError | null;
  /** Milliseconds from the submission to the last start, or to the end if it never ran. */
  queueMs: number | null;
  inferenceMs: number | null;
  createdAtMs: number;
  startedAtMs: number | null;
  completedAtMs: number | null;
  /** The time at which it joins its queue, or joined it. */
  notBeforeMs: number | null;
  tags: readonly string[] | null;
  /** What its last attempt used; null: the model reported no usage. */
  usage: Usage | null;
  retryOf: string | null;
  retriedAs: string | null;
  erasedAtMs: number | null;
  /** The last progress that its run emitted; null: none, or it does not run. Not read where nothing can run. */
  progress?: Progress | null;
  /** true: its caller chose how long it may wait. */
  hasOwnExpiry: boolean | null;
  /** Its caller chose how long a run may take. */
  hasOwnTimeout: boolean;
}

export interface StatusRow extends RequestRow {
  /** The time of its next attempt, or that at which its caller lets it join its queue. null: it waits for neither. */
  delayedUntilMs: number | null;
  /**
   * The id of the stream's event for this status. It grows with each change of state and each line of the log. Starts
   * and ends are no rows of `request_event`: the id is twice the newest row's id, and 1 more while the request runs.
   * Once the request is completed, it is that time in milliseconds since 1970, which is higher than any.
   */
  lastEventId: number;
}

/** The reason for which a request waits. */
export type WaitReason = 'busy' | 'unavailable' | 'paused' | 'scheduled' | 'retrying';

export interface Waiting {
  /** 0 unless it waits. */
  position: number;
  /** Set only while it waits. */
  reason: WaitReason | undefined;
}

/** A request's row and its place at one moment. */
export interface Snapshot extends Waiting {
  row: StatusRow;
  /** undefined: too little is known. */
  estimate?: Estimate | undefined;
  /** While its model is unavailable: the time of the next probe; null: it is unknown. */
  nextProbeAtMs?: number | null;
}

export function hasSameProgress(one: RequestRow, other: RequestRow | undefined): boolean {
  const [a, b] = [one.progress, other?.progress];
  return a?.value === b?.value && a?.message === b?.message;
}
