import type { toStatus } from '../requests/status-view.js';

/** What a delivery tells. */
export interface Completed {
  modelId: string;
  completedAtMs: number;
  /** As it is answered to callers. */
  status: ReturnType<typeof toStatus>;
  /** JSON text of a success; null: there is none to send. */
  output: string | null;
  /** 0: there is no output any more. */
  outputBytes: number;
}

/** The body of a webhook. The output goes in as the text it is: parsed and written again, its numbers could change. */
export function webhookBody({ modelId, completedAtMs, status, output, outputBytes }: Completed): string {
  const { request_id, success, error, metrics, tags, attempt, response_url } = status;
  const missing = outputBytes === 0 ? 'gone' : 'too_large';
  const head = {
    type: 'request.completed',
    timestamp: new Date(completedAtMs).toISOString(),
    request_id,
    model_id: modelId,
    status: success === true ? 'OK' : 'ERROR',
  };
  const tail = {
    ...(success === true && output === null && { payload_error: missing }),
    error: error ?? null,
    metrics,
    tags,
    attempt,
    response_url,
  };
  const payload = success === true ? (output ?? 'null') : 'null';
  return `${JSON.stringify(head).slice(0, -1)},"payload":${payload},${JSON.stringify(tail).slice(1)}`;
}
