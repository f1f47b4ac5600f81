export type Priority = 'high' | 'normal' | 'low';

/** A run as the service hands it out. */
export interface ClaimedRun {
  request_id: string;
  attempt: number;
  model_id: string;
  lease_token: string;
  lease_s: number;
  /** Milliseconds until the run ends in any case, counted from the answer: clocks of machines may be wrong. */
  remaining_ms?: number | null;
  /** JSON text. */
  input?: string | undefined;
  input_url?: string;
  traceparent?: string | null;
  key_name?: string | null;
  tags?: readonly string[];
  priority?: Priority;
}

/** What a handler learns of its run. */
export interface RunFacts {
  readonly requestId: string;
  readonly model: string;
  /** Failed and lost runs so far + 1. */
  readonly attempt: number;
  /** The name of the key that submitted the request; undefined: it is not known. */
  readonly keyName: string | undefined;
  /** The tags of the request, as `key:value`. */
  readonly tags: readonly string[];
  readonly priority: Priority;
  /** When the run ends in any case, by this machine's clock. */
  readonly deadline: Date | undefined;
  readonly traceparent: string | undefined;
}

export const factsOf = (claimed: Omit<ClaimedRun, 'lease_token' | 'lease_s'>): RunFacts => ({
  requestId: claimed.request_id,
  model: claimed.model_id,
  attempt: claimed.attempt,
  keyName: claimed.key_name ?? undefined,
  tags: claimed.tags ?? [],
  priority: claimed.priority ?? 'normal',
  deadline:
    typeof claimed.remaining_ms === 'number' ? new Date(Date.now() + claimed.remaining_ms) : undefined,
  traceparent: claimed.traceparent ?? undefined,
});
