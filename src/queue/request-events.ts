import type { LostNode } from './queries/rescue.js';
import type { Outcome } from './request-state.js';

export interface SubmittedRequest {
  id: string;
  modelId: string;
  keyId: string;
}

export interface StartedRequest {
  id: string;
  modelId: string;
  /** 1 for the first. */
  attempt: number;
}

/** What an attempt ended with that did not succeed. */
export interface AttemptFailure {
  code: string;
  message: string;
  /** What the runner broke with, where it did not fail on purpose. */
  cause?: Error | undefined;
}

export interface RequeuedRequest extends StartedRequest {
  /** `returned`: the node did not finish it; `lost`: the node was lost. */
  reason: 'failed' | 'returned' | 'lost';
  /** Until the next attempt at the earliest. */
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
 * What `@OnEvent(name)` is handed, by name: a list, of what one commit of this node changed. After the commit, once at
 * most: what a process does before it dies, or does not learn from the database, is not published. What must not be
 * lost is a completion hook.
 */
export interface RequestEvents {
  /** Requests that are on disk now. */
  'request.submitted': readonly SubmittedRequest[];
  /** Runs that begin on this node. */
  'request.started': readonly StartedRequest[];
  /** Requests that wait for another attempt. */
  'request.requeued': readonly RequeuedRequest[];
  /** Requests that have their outcome. */
  'request.completed': readonly CompletedRequest[];
  /** Nodes without heartbeats, whose runs are taken over. */
  'node.lost': readonly LostNode[];
}
