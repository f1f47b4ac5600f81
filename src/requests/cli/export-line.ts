import { priorityOf } from '../../auth/caller.js';
import type { ExportRow } from '../../queue/reads/request-export.js';

/**
 * Returns a request as a line of NDJSON. Payloads are as they were received: they are not parsed, so that a large number
 * keeps its digits. URLs of webhooks are left out, because people put secrets there.
 */
export function exportLine(row: ExportRow): string {
  const head = {
    request_id: row.id,
    model_id: row.modelId,
    key: { id: row.keyId, name: row.keyName },
    status: row.state,
    outcome: row.outcome,
    priority: priorityOf(row.priority),
    tags: row.tags ?? [],
    ...(row.adapter !== null && { adapter: row.adapter }),
    created_at: row.createdAt,
    ...(row.notBefore !== null && { scheduled_at: row.notBefore }),
    started_at: row.startedAt,
    completed_at: row.completedAt,
    ...(row.erasedAt !== null && { erased_at: row.erasedAt }),
    ...(row.retryOf !== null && { retry_of: row.retryOf }),
    ...(row.retriedAs !== null && { retried_as: row.retriedAs }),
  };
  const payloads = {
    attempts: row.attempts,
    usage: row.usage,
    input: row.input,
    output: row.output,
    error: row.error,
  };
  const members = Object.entries(payloads).map(([name, json]) => `"${name}":${onOneLine(json ?? 'null')}`);
  return `${JSON.stringify(head).slice(0, -1)},${members.join(',')}}\n`;
}

/** Between the values of a JSON text a line break means nothing. Within a text it is written as an escape. */
const onOneLine = (json: string): string => json.replaceAll(/[\r\n]+/g, ' ');
