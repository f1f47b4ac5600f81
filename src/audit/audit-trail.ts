import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { Caller } from '../auth/caller.js';
import type { GuardedRequest } from '../auth/current-caller.decorator.js';
import { plainTransaction } from '../database/plain-transaction.js';
import { type Queries, statement } from '../database/statement.js';
import { ClientAddress } from '../http/client-address.js';
import { requestIdOf } from '../http/request-id.js';
import { type Actor, actorKey } from './actor.js';
import type { AuditAction } from './audit-actions.js';
import { newId } from '../database/new-id.js';

const maxTextLength = 300;

const insertEntry = statement('write_audit_entry')`INSERT INTO audit_entry
  (id, action, target, actor_key_id, actor_name, session_id, address, user_agent, http_request_id, before, after, reason)
VALUES ($1::uuid, $2, $3, $4::uuid, $5, $6::uuid, $7, $8, $9, $10::jsonb, $11::jsonb, $12)`;

export interface AuditNote {
  action: AuditAction;
  target?: string | null;
  before?: object | null;
  after?: object | null;
  reason?: string | null | undefined;
}

/** Records every change of an operator, in the commit that makes it, and also refusals and reads of payloads. */
@Injectable()
export class AuditTrail {
  constructor(
    private readonly source: DataSource,
    private readonly addresses: ClientAddress,
  ) {}

  /** Runs `work` in one transaction: the change and, by `write`, its entry. */
  inTransaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return plainTransaction(this.source, work);
  }

  write(manager: EntityManager, actor: Actor, note: AuditNote): Promise<void> {
    return this.writeBy({ query: ({ text }, values) => manager.query(text, values) }, actor, note);
  }

  /** Writes an entry in the transaction that these statements are in. */
  async writeBy(queries: Queries, actor: Actor, note: AuditNote): Promise<void> {
    const { keyId, name, sessionId, address, userAgent, httpRequestId } = actor;
    const { action, target = null, before = null, after = null, reason = null } = note;
    const by = [keyId, name, sessionId, address, userAgent, httpRequestId];
    const json = (value: object | null): string | null => value && JSON.stringify(value);
    await queries.query(insertEntry, [newId(), action, target, ...by, json(before), json(after), reason]);
  }

  /** Writes an entry by itself, for something that changes nothing. */
  note(actor: Actor, note: AuditNote): Promise<void> {
    return this.write(this.source.manager, actor, note);
  }

  /** Returns the actor behind a call. No caller: the actor is not known (yet). */
  actorOf(request: GuardedRequest, caller: Caller | undefined): Actor {
    const { keyId, name, sessionId } = caller
      ? actorKey(caller)
      : { keyId: null, name: 'unknown', sessionId: null };
    return {
      keyId,
      name,
      sessionId,
      address: this.addresses.of(request),
      userAgent: request.headers['user-agent']?.slice(0, maxTextLength) ?? null,
      httpRequestId: requestIdOf(request.res!),
    };
  }
}
