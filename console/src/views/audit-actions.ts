import type { AuditAction } from '../api/types';

/** All actions (the compiler checks this), in the order of the list to choose from. */
const all: Record<AuditAction, true> = {
  'model.pause': true,
  'model.resume': true,
  'model.concurrency': true,
  'models.reload': true,
  'key.create': true,
  'key.update': true,
  'key.revoke': true,
  'node.drain': true,
  'node.undrain': true,
  'worker.drain': true,
  'worker.resume': true,
  'worker.stop': true,
  'request.cancel': true,
  'request.retry': true,
  'request.erase': true,
  'payload.read': true,
  'operation.start': true,
  'operation.stop': true,
  'delivery.redeliver': true,
  'secret.read': true,
  'secret.rotate': true,
  'endpoint.create': true,
  'endpoint.update': true,
  'endpoint.remove': true,
  'endpoint.disable': true,
  'endpoint.enable': true,
  'session.begin': true,
  'session.refuse': true,
  'session.end': true,
  'session.link': true,
  'access.refuse': true,
  'audit.export': true,
};

export const auditActions = Object.keys(all) as AuditAction[];
