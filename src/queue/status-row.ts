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
  inferenceMs: number | null;
  completedAtMs: number | null;
  /** Id of its newest event; 0: none yet. */
  lastEventId: number;
}
