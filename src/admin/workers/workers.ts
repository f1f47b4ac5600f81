import { Injectable } from '@nestjs/common';
import { validate as isUuid } from 'uuid';
import type { Actor } from '../../audit/actor.js';
import { AuditTrail } from '../../audit/audit-trail.js';
import { ObservingDatabase } from '../../database/observing-database.js';
import { DomainError } from '../../errors/domain-error.js';
import type { Page, PageQuery } from '../../http/input/page.js';
import { Controls, type Told } from '../../queue/cluster/controls.js';
import { QueueEvents } from '../../queue/queue-events.js';
import { SharedReads } from '../../tools/shared-reads.js';
import { listWorkers, type WorkerPlace, type WorkerRow } from './worker-rows.js';
import type { AdminWorkerDto, AdminWorkerPageDto, ToldWorkerDto, WorkerState } from './workers.dto.js';

/** A result is kept this long for tabs that ask for the same at about the same time. */
const sharedMs = 10_000;
/** The action of the audit entry for each. */
const actions = { run: 'worker.resume', drain: 'worker.drain', stop: 'worker.stop' } as const;
const first: WorkerPlace = { uid: '00000000-0000-0000-0000-000000000000', name: '' };

/** Shows operators the workers, and gives them orders. */
@Injectable()
export class Workers {
  private readonly shared = new SharedReads<WorkerRow[]>(sharedMs);

  constructor(
    private readonly database: ObservingDatabase,
    private readonly trail: AuditTrail,
    private readonly controls: Controls,
    private readonly events: QueueEvents,
  ) {}

  /** `ageMs`: how old the answer may be. */
  async list(page: Page<PageQuery>, ageMs: number): Promise<AdminWorkerPageDto> {
    const after = page.after(toPlace) ?? first;
    const limit = page.limit + 1;
    const rows = await this.shared.get(JSON.stringify([after, limit]), ageMs, () =>
      listWorkers(this.database, after, limit),
    );
    return page.of(rows, ({ uid, name }) => `${uid} ${name}`, toView);
  }

  async tell(actor: Actor, uid: string, told: Told, reason: string | undefined): Promise<ToldWorkerDto> {
    const name = await this.trail.inTransaction(async (manager) => {
      const known = await this.controls.tellWorker(manager, uid, told);
      if (known === undefined) throw new DomainError('unknown_id', `There is no worker ${uid}.`);
      if (known.before !== told)
        await this.trail.write(manager, actor, {
          action: actions[told],
          target: known.name,
          before: { told: known.before },
          after: { told },
          reason,
        });
      return known.name;
    });
    this.events.publish({ workers: [uid] });
    return { uid, name, told };
  }
}

function toPlace(position: string): WorkerPlace | undefined {
  const [, uid = '', name = ''] = /^(\S+) (.*)$/s.exec(position) ?? [];
  return isUuid(uid) ? { uid, name } : undefined;
}

function toView(row: WorkerRow): AdminWorkerDto {
  const { uid, id, name, keyId, keyName, version, labels, models, state: says, running } = row;
  return {
    uid,
    id,
    name,
    version,
    labels,
    models,
    says,
    running,
    key: { id: keyId, name: keyName },
    state: stateOf(row),
    seen_at: row.seenAt.toISOString(),
    failures_in_row: row.failuresInRow,
    resting_until: row.restsUntil?.toISOString() ?? null,
  };
}

function stateOf({ isSeen, told, restsUntil, state }: WorkerRow): WorkerState {
  if (!isSeen) return 'away';
  if (state === 'stuck') return 'stuck';
  if (told !== 'run') return told === 'drain' ? 'draining' : 'stopping';
  return restsUntil === null ? 'ready' : 'resting';
}
