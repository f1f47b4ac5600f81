import type { toStatus } from '../requests/status-view.js';

/** The content of a delivery. */
export interface Completed {
  modelId: string;
  completedAtMs: number;
  /** The status as it is answered to callers. */
  status: ReturnType<typeof toStatus>;
  /** JSON text of the output of a success; null: there is none to send. */
  output: string | null;
  /** 0: the output does not exist any more. */
  outputBytes: number;
}

/** Returns why a success is sent without its output. undefined: it is sent with it. */
export function payloadErrorOf({ output, outputBytes }: Pick<Completed, 'output' | 'outputBytes'>) {
  if (output !== null) return undefined;
  return outputBytes === 0 ? 'gone' : 'too_large';
}

/**
 * Returns the body of a webhook. The output is inserted as text, because its numbers could change if it were parsed and
 * written again.
 */
export function webhookBody({ modelId, completedAtMs, status, ...payload }: Completed): string {
  const { request_id, success, error, metrics, tags, attempt, response_url } = status;
  const head = {
    type: 'request.completed',
    timestamp: new Date(completedAtMs).toISOString(),
    request_id,
    model_id: modelId,
    status: success === true ? 'OK' : 'ERROR',
  };
  const tail = {
    ...(success === true && { payload_error: payloadErrorOf(payload) }),
    error: error ?? null,
    metrics,
    tags,
    attempt,
    response_url,
  };
  const output = success === true ? payload.output : null;
  return `${JSON.stringify(head).slice(0, -1)},"payload":${output ?? 'null'},${JSON.stringify(tail).slice(1)}`;
}
