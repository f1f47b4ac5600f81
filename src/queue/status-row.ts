import type { Outcome, RequestState } from './request-state.js';
import type { RequestError } from './request-errors.js';

/** A request without its payloads. */
export interface StatusRow {
  id: string;
  modelId: string;
  keyId: string;
  state: RequestState;
  outcome: Outcome | null;
  priority: number;
  seq: number;
  attempt: number;
  error: RequestError | null;
  /** Milliseconds from the submission to the last start, or to the end if it never ran. */
  queueMs: number | null;
  /** Milliseconds of the last run that ended. */
  inferenceMs: number | null;
  /** Milliseconds since 1970. */
  completedAtMs: number | null;
  /** Id of its newest event; 0: none yet. */
  lastEventId: number;
}
