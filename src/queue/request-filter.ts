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

/** Which requests of all keys are meant. */
export interface AnyRequestFilter extends RequestFilter {
  keyId?: string | undefined;
  /** Of the error that they ended with. */
  code?: string | undefined;
  /** The name of a node that they run on, or ran. */
  node?: string | undefined;
  /** These alone. */
  ids?: readonly string[] | undefined;
  /** They have not completed. */
  isOpen?: boolean | undefined;
  /** Milliseconds since 1970: they had completed then. */
  completedBeforeMs?: number | undefined;
  /** They have completed, and were not erased. */
  isKept?: boolean | undefined;
  /** The first characters of their ids. */
  idPrefix?: string | undefined;
}
