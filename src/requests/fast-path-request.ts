import type { IncomingMessage } from 'node:http';

/** A call that `HotRoutes` may serve. */
export type PlainCall =
  { kind: 'submit'; modelId: string } | { kind: 'status'; requestId: string; logs: string | undefined };

const submission = /^\/v1\/queue\/((?!requests\/)[\w.~/-]+?)\/?(?:\?|$)/;
const status = /^\/v1\/queue\/requests\/([0-9a-f-]{36})\/status(?:\?logs=(\w+))?$/;

/** undefined: it is neither, or has something about it that wants a closer look. */
export function toPlainCall({ method, url, headers }: IncomingMessage): PlainCall | undefined {
  if (headers.expect !== undefined) return undefined;
  if (method === 'POST') {
    const modelId = submission.exec(url!)?.[1];
    return modelId === undefined ? undefined : { kind: 'submit', modelId };
  }
  if (method !== 'GET') return undefined;
  const [, requestId, logs] = status.exec(url!) ?? [];
  return requestId === undefined ? undefined : { kind: 'status', requestId, logs };
}
