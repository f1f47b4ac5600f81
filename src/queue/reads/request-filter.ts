import type { Outcome, RequestState } from '../request-state.js';

/** Selects requests of a key. Undefined fields do not matter. */
export interface RequestFilter {
  modelId?: string | undefined;
  state?: RequestState | undefined;
  outcome?: Outcome | undefined;
  /** The request has all of these tags. */
  tags?: readonly string[] | undefined;
  /** Milliseconds since 1970. The first bound is inclusive, the second is not. */
  createdAfterMs?: number | undefined;
  createdBeforeMs?: number | undefined;
}

/** Selects requests of all keys. */
export interface OperatorFilter extends RequestFilter {
  keyId?: string | undefined;
  /** The code of the error that they ended with. */
  code?: string | undefined;
  /** The name of a node or worker that they run on, or ran on. */
  node?: string | undefined;
  /** Only these ids. */
  ids?: readonly string[] | undefined;
  /** Only requests that have not completed. */
  isOpen?: boolean | undefined;
  /** Milliseconds since 1970: requests that had completed by then. */
  completedBeforeMs?: number | undefined;
  /** Only requests that have completed and were not erased. */
  isKept?: boolean | undefined;
  /** The first characters of their ids. */
  idPrefix?: string | undefined;
}
