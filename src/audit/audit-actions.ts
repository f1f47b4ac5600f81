/** All that is audited. */
export const auditActions = [
  'model.pause',
  'model.resume',
  'model.concurrency',
  'models.reload',
  'key.create',
  'key.update',
  'key.revoke',
  'node.drain',
  'request.cancel',
  'request.retry',
  'request.erase',
  'payload.read',
  'operation.start',
  'operation.stop',
  'delivery.redeliver',
  'endpoint.disable',
  'endpoint.enable',
  'session.begin',
  'session.refuse',
  'session.end',
  'session.link',
  'access.refuse',
  'audit.export',
] as const;

export type AuditAction = (typeof auditActions)[number];
