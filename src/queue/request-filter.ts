import type { Outcome, RequestState } from './request-state.js';

/** Which requests of a key are meant; what is undefined does not matter. */
export interface RequestFilter {
  modelId?: string | undefined;
  state?: RequestState | undefined;
  outcome?: Outcome | undefined;
  /** All of them. */
  tags?: readonly string[] | undefined;
  /** Milliseconds since 1970: from the one on, and before the other. */
  createdAfterMs?: number | undefined;
  createdBeforeMs?: number | undefined;
}
