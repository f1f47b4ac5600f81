import type { IncomingMessage } from 'node:http';
import { modelIdOfPath } from './model-path.js';

/** A call that the fast path may serve. */
export type FastPathRequest =
  | { kind: 'submit'; modelId: string }
  | { kind: 'status'; requestId: string; query: { logs: string | undefined } };

const submission = /^\/v1\/queue\/((?!requests(?:[/?]|$))[\w.~/%-]+?)\/?(?:\?|$)/;
const status = /^\/v1\/queue\/requests\/([0-9a-f-]{36})\/status(?:\?logs=(\w+))?$/;

/** undefined: it is neither, or has something about it that wants a closer look. */
export function toFastPathRequest({ method, url, headers }: IncomingMessage): FastPathRequest | undefined {
  if (headers.expect !== undefined) return undefined;
  if (method === 'POST') {
    const written = submission.exec(url!)?.[1];
    const modelId = written?.includes('%') === true ? modelIdOfPath(url!) : written;
    return modelId === undefined ? undefined : { kind: 'submit', modelId };
  }
  if (method !== 'GET') return undefined;
  const [, requestId, logs] = status.exec(url!) ?? [];
  return requestId === undefined ? undefined : { kind: 'status', requestId, query: { logs } };
}
