import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, IsNull, LessThan, type Repository } from 'typeorm';
import type { Actor } from '../audit/actor.js';
import { AuditTrail } from '../audit/audit-trail.js';
import { DomainError } from '../errors/domain-error.js';
import type { OperatorFilter } from '../queue/reads/request-filter.js';
import { newId } from '../database/new-id.js';
import { type OperationAction, OperationEntity } from './entities/operation.entity.js';
import { OperationRunner } from './duties/operation-runner.js';

/** Digits of an id that the audit shows: its time to about a minute, and nothing random. */
const auditedPrefixLength = 8;

export interface NewOperation {
  action: OperationAction;
  filter: OperatorFilter;
  reason: string | undefined;
}

/** Actions on all requests that match a filter. */
@Injectable()
export class Operations {
  constructor(
    @InjectRepository(OperationEntity) private readonly rows: Repository<OperationEntity>,
    private readonly trail: AuditTrail,
    private readonly runner: OperationRunner,
  ) {}

  /** The members are the requests that match now. They are collected step by step. */
  async start(actor: Actor, { action, filter, reason }: NewOperation): Promise<OperationEntity> {
    const id = newId();
    await this.trail.inTransaction(async (manager) => {
      const row = {
        id,
        action,
        filter,
        reason: reason ?? null,
        actorKeyId: actor.keyId,
        actorName: actor.name,
      };
      await manager.getRepository(OperationEntity).insert(row);
      const idPrefix = filter.idPrefix?.slice(0, auditedPrefixLength);
      const after = { action, filter: { ...filter, ids: filter.ids?.length, idPrefix } };
      await this.trail.write(manager, actor, { action: 'operation.start', target: id, after, reason });
    });
    const started = await this.find(id);
    this.runner.wake();
    return started;
  }

  async find(id: string): Promise<OperationEntity> {
    const row = await this.rows.findOneBy({ id });
    if (row !== null) return row;
    throw new DomainError('unknown_operation', `There is no operation ${id}.`);
  }

  /** Returns operations, newest first. */
  list({ before, limit }: { before: string | undefined; limit: number }): Promise<OperationEntity[]> {
    const where = before === undefined ? {} : { id: LessThan(before) };
    return this.rows.find({ where, order: { id: 'DESC' }, take: limit });
  }

  /** Stops after the current step. Its completed steps are not undone. */
  async stop(actor: Actor, id: string, reason: string | undefined): Promise<OperationEntity> {
    await this.find(id);
    await this.trail.inTransaction(async (manager) => {
      const rows = manager.getRepository(OperationEntity);
      const { affected } = await rows.update(
        { id, state: In(['collecting', 'running']), endedAt: IsNull() },
        { state: 'stopping' },
      );
      if (affected !== 1) return;
      const { done, total } = await rows.findOneByOrFail({ id });
      await this.trail.write(manager, actor, {
        action: 'operation.stop',
        target: id,
        after: { done, total },
        reason,
      });
    });
    this.runner.wake();
    return this.find(id);
  }
}

export { qualifying } from './operation-collector.js';
export {
  type OperationAction,
  operationActions,
  type OperationEntity as OperationRow,
} from './entities/operation.entity.js';
