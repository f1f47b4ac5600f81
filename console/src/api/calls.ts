import { answer, api, isUnanswered, query, send, sendWithoutLimit } from './client';
import type * as t from './types';

/** Every route that the console calls is named here, once. */
const admin = 'v1/admin';
export const requestPath = (id: string): string => `${admin}/requests/${encodeURIComponent(id)}`;
const ofRequest = (id: string) => ({ path: { request_id: id } });

/**
 * A call that does the same again when it is repeated. If the service may have done it without an answer, the error
 * ends with `advice`.
 */
async function once<T>(call: Promise<T>, advice: string): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof Error) || !isUnanswered(error)) throw error;
    throw new Error(`${error.message} ${advice}`, { cause: error });
  }
}

/** For data that is read repeatedly: a recent answer to another tab is good enough. */
const recent = { 'cache-control': 'max-age=2' };

export const readSession = (signal?: AbortSignal) => answer(api.GET('/v1/admin/session', { signal }));
export const signIn = (body: { key: string } | { link: string }) =>
  answer(api.POST('/v1/admin/session', { body }));
export const signOut = () => answer(api.DELETE('/v1/admin/session'));

export const listModels = (signal?: AbortSignal) => answer(api.GET('/v1/admin/models', { signal }));
export const changeModel = (id: string, body: t.ModelChange) =>
  answer(api.PATCH('/v1/admin/models/{model_id}', { params: { path: { model_id: id } }, body }));
export const probeModel = (id: string) =>
  answer(api.POST('/v1/admin/models/{model_id}/probe', { params: { path: { model_id: id } } }));
export const reloadModels = () => answer(api.POST('/v1/admin/models/reload'));
export const readQueue = (model: string, signal?: AbortSignal) =>
  answer(api.GET('/v1/admin/queue', { params: { query: { model, limit: 100 } }, headers: recent, signal }));
export const readShares = (model: string, signal?: AbortSignal) =>
  answer(api.GET('/v1/admin/shares', { params: { query: { model } }, signal }));
export const readModelView = (id: string, signal?: AbortSignal) =>
  answer(api.GET('/v1/models/{model_id}', { params: { path: { model_id: id } }, signal }));

/** Returns the type and size of a file of the service. */
export async function readFileFacts(
  path: string,
  signal?: AbortSignal,
): Promise<{ type: string; bytes: number }> {
  const { headers } = await send(path, { method: 'HEAD', signal: signal ?? null });
  return {
    type: headers.get('content-type') ?? 'application/octet-stream',
    bytes: Number(headers.get('content-length') ?? 0),
  };
}

interface Part {
  limit?: number;
  cursor?: string;
}
export const requestsPath = (filter: t.RequestFilter, part: Part = {}) =>
  `${admin}/requests${query({ ...filter, ...part })}`;
export const listRequests = (filter: t.RequestFilter, part: Part, signal?: AbortSignal) =>
  answer(api.GET('/v1/admin/requests', { params: { query: { ...filter, ...part } }, signal }));
/** Returns the newest requests, to learn whether there are newer ones than those shown. */
export const listNewest = (filter: t.RequestFilter, signal?: AbortSignal) =>
  answer(
    api.GET('/v1/admin/requests', { params: { query: { ...filter, limit: 20 } }, headers: recent, signal }),
  );
export const readRequest = (id: string, signal?: AbortSignal) =>
  answer(api.GET('/v1/admin/requests/{request_id}', { params: ofRequest(id), signal }));
export const readHistory = (id: string, signal?: AbortSignal) =>
  answer(api.GET('/v1/admin/requests/{request_id}/events', { params: ofRequest(id), signal }));
export const readLog = (id: string, cursor: string | undefined, signal?: AbortSignal) =>
  answer(
    api.GET('/v1/admin/requests/{request_id}/log', {
      params: { ...ofRequest(id), query: { cursor } },
      signal,
    }),
  );
export const readDeliveries = (id: string, signal?: AbortSignal) =>
  answer(api.GET('/v1/admin/requests/{request_id}/deliveries', { params: ofRequest(id), signal }));
export const cancelRequest = (id: string, body: t.Reason) =>
  answer(api.POST('/v1/admin/requests/{request_id}/cancel', { params: ofRequest(id), body }));
export const retryRequest = (id: string) =>
  once(
    answer(api.POST('/v1/admin/requests/{request_id}/retry', { params: ofRequest(id), body: {} })),
    'The request may have been retried: if so, this page names the new request under “Retried as”.',
  );
export const eraseRequest = (id: string, body: t.Reason) =>
  answer(api.POST('/v1/admin/requests/{request_id}/erase', { params: ofRequest(id), body }));

export const previewOperation = (filter: t.RequestFilter, action: t.Action) =>
  answer(
    api.POST('/v1/admin/operations', { body: operation(filter, action, true) }),
  ) as Promise<t.OperationPreview>;
export const startOperation = (filter: t.RequestFilter, action: t.Action, reason: t.Reason) =>
  once(
    answer(api.POST('/v1/admin/operations', { body: { ...operation(filter, action, false), ...reason } })),
    'The operation may have started: go back and look for it above the list before you start it again.',
  ) as Promise<t.Operation>;
export const listOperations = (signal?: AbortSignal) => answer(api.GET('/v1/admin/operations', { signal }));
export const readOperation = (id: string, signal?: AbortSignal) =>
  answer(api.GET('/v1/admin/operations/{operation_id}', { params: { path: { operation_id: id } }, signal }));
export const stopOperation = (id: string) =>
  answer(api.POST('/v1/admin/operations/{operation_id}/stop', { params: { path: { operation_id: id } } }));

export function operation(filter: t.RequestFilter, action: t.Action, validateOnly: boolean) {
  const isAll = Object.values(filter).every((value) => value === undefined || value.length === 0);
  return { filter, action, ...(isAll && { all: true }), ...(validateOnly && { validate_only: true }) };
}

export const batchPath = (id: string): string => `${admin}/batches/${encodeURIComponent(id)}`;
const ofBatch = (id: string) => ({ path: { batch_id: id } });
export const listBatches = (
  filter: { status?: t.AdminBatch['status']; key_id?: string; cursor?: string },
  signal?: AbortSignal,
) => answer(api.GET('/v1/admin/batches', { params: { query: { ...filter, limit: 50 } }, signal }));
export const readBatch = (id: string, signal?: AbortSignal) =>
  answer(api.GET('/v1/admin/batches/{batch_id}', { params: ofBatch(id), signal }));
export const cancelBatch = (id: string, body: t.Reason) =>
  answer(api.PUT('/v1/admin/batches/{batch_id}/cancel', { params: ofBatch(id), body }));

const ofKey = (id: string) => ({ path: { key_id: id } });
export const listKeys = (cursor: string | undefined, signal?: AbortSignal) =>
  answer(api.GET('/v1/admin/keys', { params: { query: { limit: 100, cursor } }, signal }));
export const createKey = ({ name = '', ...others }: t.KeyBody) =>
  once(
    answer(api.POST('/v1/admin/keys', { body: { name, ...others } })),
    'The key may have been created: if the list has it, revoke it, because it cannot be shown again.',
  );
export const changeKey = (id: string, body: t.KeyBody) =>
  answer(api.PATCH('/v1/admin/keys/{key_id}', { params: ofKey(id), body }));
export const revokeKey = (id: string, body: t.Reason) =>
  answer(api.DELETE('/v1/admin/keys/{key_id}', { params: ofKey(id), body }));

export const listNodes = (signal?: AbortSignal) => answer(api.GET('/v1/admin/nodes', { signal }));
export const drainNode = (id: string, drain: boolean, body: t.Reason) =>
  answer(
    api.request(drain ? 'post' : 'delete', '/v1/admin/nodes/{node_id}/drain', {
      params: { path: { node_id: id } },
      body,
    }),
  );

export const listWorkers = (cursor: string | undefined, signal?: AbortSignal) =>
  answer(
    api.GET('/v1/admin/workers', { params: { query: { limit: 100, cursor } }, headers: recent, signal }),
  );
const ofWorker = (uid: string, body: t.Reason) => ({ params: { path: { worker_uid: uid } }, body });
export const drainWorker = (uid: string, reason: t.Reason) =>
  answer(api.POST('/v1/admin/workers/{worker_uid}/drain', ofWorker(uid, reason)));
export const stopWorker = (uid: string, reason: t.Reason) =>
  answer(api.POST('/v1/admin/workers/{worker_uid}/stop', ofWorker(uid, reason)));
export const undrainWorker = (uid: string) =>
  answer(api.DELETE('/v1/admin/workers/{worker_uid}/drain', ofWorker(uid, {})));

export const listWebhooks = (cursor: string | undefined, signal?: AbortSignal) =>
  answer(api.GET('/v1/admin/webhooks', { params: { query: { limit: 100, cursor } }, signal }));
export const changeWebhook = (id: string, body: { disabled: boolean } & t.Reason) =>
  answer(api.PATCH('/v1/admin/webhooks/{webhook_id}', { params: { path: { webhook_id: id } }, body }));
export const listDeliveries = (
  filter: { state?: t.Delivery['state']; webhook_id?: string; cursor?: string },
  signal?: AbortSignal,
) => answer(api.GET('/v1/admin/deliveries', { params: { query: { ...filter, limit: 50 } }, signal }));
export const redeliver = (id: string) =>
  answer(api.POST('/v1/admin/deliveries/{delivery_id}/redeliver', { params: { path: { delivery_id: id } } }));

export const listSessions = (cursor: string | undefined, signal?: AbortSignal) =>
  answer(api.GET('/v1/admin/sessions', { params: { query: { limit: 100, cursor } }, signal }));
export const endSession = (id: string, body: t.Reason) =>
  answer(api.DELETE('/v1/admin/sessions/{session_id}', { params: { path: { session_id: id } }, body }));
export interface AuditFilter {
  action?: t.AuditAction;
  actor?: string;
  target?: string;
  after?: string;
  before?: string;
}
const auditQuery = (filter: AuditFilter, cursor?: string) => ({ ...filter, cursor, limit: 50 });
export const auditPath = (filter: AuditFilter, cursor?: string) =>
  `${admin}/audit${query(auditQuery(filter, cursor))}`;
export const listAudit = (filter: AuditFilter, cursor?: string, signal?: AbortSignal) =>
  answer(api.GET('/v1/admin/audit', { params: { query: auditQuery(filter, cursor) }, signal }));

/** `json`: the input as it is sent. Its numbers may be larger than JavaScript can hold. */
export const submit = (model: string, json: string) =>
  once(
    answer(
      api.POST('/v1/queue/{model_id}', {
        params: { path: { model_id: model } },
        body: {},
        bodySerializer: () => json,
        // The upload of a large input may take any time.
        fetch: sendWithoutLimit,
      }),
    ),
    'The request may have been submitted: look for it in Requests before you submit it again.',
  );
