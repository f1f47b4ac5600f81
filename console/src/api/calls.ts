import { change, get, query } from './client';
import type * as t from './types';

/** Every route that the console calls, once. */
const admin = 'v1/admin';
/** Model ids have slashes, which stay. */
const modelPath = (id: string): string => id.split('/').map(encodeURIComponent).join('/');
export const requestPath = (id: string): string => `${admin}/requests/${encodeURIComponent(id)}`;

export const readSession = (signal?: AbortSignal) => get<t.Session>(`${admin}/session`, signal);
export const signIn = (by: { key: string } | { link: string }) =>
  change<t.Session>('POST', `${admin}/session`, by);
export const signOut = () => change<void>('DELETE', `${admin}/session`);

export const listModels = (signal?: AbortSignal) => get<t.Page<t.AdminModel>>(`${admin}/models`, signal);
export const changeModel = (
  id: string,
  body: { concurrency?: number | null; paused?: t.Paused | null; reason?: string },
) => change<t.AdminModel>('PATCH', `${admin}/models/${modelPath(id)}`, body);
export const reloadModels = () =>
  change<{ added: string[]; changed: string[]; removed: { id: string; waiting: number }[] }>(
    'POST',
    `${admin}/models/reload`,
  );
export const readQueue = (model: string, cursor?: string, signal?: AbortSignal) =>
  get<t.Page<t.QueueEntry>>(`${admin}/queue${query({ model, limit: 100, cursor })}`, signal);
export const readShares = (model: string, signal?: AbortSignal) =>
  get<t.Page<t.Share>>(`${admin}/shares${query({ model })}`, signal);
export const readModelView = (id: string, signal?: AbortSignal) =>
  get<t.ModelView>(`v1/models/${modelPath(id)}`, signal);

export const requestsPath = (filter: t.RequestFilter, more: { limit?: number; cursor?: string } = {}) =>
  `${admin}/requests${query({ ...filter, ...more })}`;
export const listRequests = (
  filter: t.RequestFilter,
  more: { limit?: number; cursor?: string },
  signal?: AbortSignal,
) => get<t.Page<t.AdminRequest>>(requestsPath(filter, more), signal);
export const readRequest = (id: string, signal?: AbortSignal) => get<t.AdminRequest>(requestPath(id), signal);
export const readHistory = (id: string, signal?: AbortSignal) =>
  get<t.RequestHistory>(`${requestPath(id)}/events`, signal);
export const readLog = (id: string, cursor: string | undefined, signal?: AbortSignal) =>
  get<t.Page<t.LogEntry>>(`${requestPath(id)}/log${query({ limit: 1000, cursor })}`, signal);
export const readDeliveries = (id: string, signal?: AbortSignal) =>
  get<t.Page<t.Delivery>>(`${requestPath(id)}/deliveries`, signal);
export const act = (id: string, action: t.Action) =>
  change<t.AdminRequest>('POST', `${requestPath(id)}/${action}`);

export const previewOperation = (filter: t.RequestFilter, action: t.Action) =>
  change<t.OperationPreview>('POST', `${admin}/operations`, operation(filter, action, true));
export const startOperation = (filter: t.RequestFilter, action: t.Action) =>
  change<t.Operation>('POST', `${admin}/operations`, operation(filter, action, false));
export const listOperations = (signal?: AbortSignal) =>
  get<t.Page<t.Operation>>(`${admin}/operations`, signal);
export const readOperation = (id: string, signal?: AbortSignal) =>
  get<t.Operation>(`${admin}/operations/${id}`, signal);
export const stopOperation = (id: string) => change<t.Operation>('POST', `${admin}/operations/${id}/stop`);

export function operation(filter: t.RequestFilter, action: t.Action, validateOnly: boolean) {
  const isAll = Object.values(filter).every((value) => value === undefined || value.length === 0);
  return { filter, action, ...(isAll && { all: true }), ...(validateOnly && { validate_only: true }) };
}

export const listKeys = (signal?: AbortSignal) => get<t.Page<t.AdminKey>>(`${admin}/keys?limit=100`, signal);
export const createKey = (body: t.KeyBody) => change<t.NewKey>('POST', `${admin}/keys`, body);
export const changeKey = (id: string, body: t.KeyBody) =>
  change<t.AdminKey>('PATCH', `${admin}/keys/${id}`, body);
export const revokeKey = (id: string) => change<void>('DELETE', `${admin}/keys/${id}`);

export const listNodes = (signal?: AbortSignal) => get<t.Page<t.AdminNode>>(`${admin}/nodes`, signal);
export const drainNode = (id: string, drain: boolean) =>
  change<unknown>(drain ? 'POST' : 'DELETE', `${admin}/nodes/${id}/drain`);

export const listWebhooks = (signal?: AbortSignal) => get<t.Page<t.Receiver>>(`${admin}/webhooks`, signal);
export const disableWebhook = (id: string, disabled: boolean) =>
  change<unknown>('PATCH', `${admin}/webhooks/${id}`, { disabled });
export const listDeliveries = (
  filter: { state?: string; webhook_id?: string; cursor?: string },
  signal?: AbortSignal,
) => get<t.Page<t.Delivery>>(`${admin}/deliveries${query({ ...filter, limit: 50 })}`, signal);
export const redeliver = (id: string) => change<unknown>('POST', `${admin}/deliveries/${id}/redeliver`);

export const listSessions = (signal?: AbortSignal) =>
  get<t.Page<t.AdminSession>>(`${admin}/sessions`, signal);
export const endSession = (id: string) => change<void>('DELETE', `${admin}/sessions/${id}`);
export interface AuditFilter {
  action?: string;
  actor?: string;
  target?: string;
  after?: string;
  before?: string;
}
export const auditPath = (filter: AuditFilter, cursor?: string) =>
  `${admin}/audit${query({ ...filter, cursor, limit: 50 })}`;
export const listAudit = (filter: AuditFilter, cursor?: string, signal?: AbortSignal) =>
  get<t.Page<t.AuditEntry>>(auditPath(filter, cursor), signal);

export const submit = (model: string, input: unknown) =>
  change<{ request_id: string }>('POST', `v1/queue/${modelPath(model)}`, input);
