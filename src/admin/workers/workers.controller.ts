import { Controller, Delete, Get, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { validate as isUuid } from 'uuid';
import { AuditTrail } from '../../audit/audit-trail.js';
import type { GuardedRequest } from '../../auth/current-caller.decorator.js';
import { ObservingDatabase } from '../../database/observing-database.js';
import { DomainError } from '../../errors/domain-error.js';
import { ClientAddress } from '../../http/client-address.js';
import { sendReply } from '../../http/reply.js';
import { Limited } from '../../limits/limited.js';
import { QueueEvents } from '../../queue/queue-events.js';
import { SharedReads } from '../../tools/shared-reads.js';
import { CursorList, PageQuery } from '../cursor-page.js';
import { idOf } from '../id-param.js';
import { maxAgeMs } from '../max-age.js';
import { ReasonBodies } from '../requests/reason-bodies.js';
import { ApiListWorkers, ApiTellWorker } from './openapi.js';
import { listWorkers, tellWorker, type Told, type WorkerRow } from './worker-rows.js';
import type { AdminWorkerDto, ToldWorkerDto, WorkerState } from './worker.dto.js';

const uidLength = 36;
const isPosition = (text: string): boolean => isUuid(text.slice(0, uidLength)) && text[uidLength] === ' ';
const list = new CursorList('/v1/admin/workers', PageQuery, isPosition);
/** A result is kept this long for tabs that ask for the same at about the same time. */
const sharedMs = 10_000;
/** The action of the audit entry for each. */
const actions = { run: 'worker.resume', drain: 'worker.drain', stop: 'worker.stop' } as const;
const first = '00000000-0000-0000-0000-000000000000 ';

/** The workers, which claim runs over HTTP. */
@ApiTags('Admin')
@Controller('v1/admin/workers')
export class AdminWorkersController {
  private readonly shared = new SharedReads<WorkerRow[]>(sharedMs);

  constructor(
    private readonly database: ObservingDatabase,
    private readonly trail: AuditTrail,
    private readonly reasons: ReasonBodies,
    private readonly addresses: ClientAddress,
    private readonly events: QueueEvents,
  ) {}

  @Get()
  @ApiListWorkers()
  @Limited('observe', { needsKey: true })
  async listWorkers(
    @Query() query: PageQuery,
    @Req() request: GuardedRequest,
    @Res() response: Response,
  ): Promise<void> {
    const call = list.call(query);
    const place = call.after ?? first;
    const after = { uid: place.slice(0, uidLength), name: place.slice(uidLength + 1) };
    const limit = call.limit + 1;
    const rows = await this.shared.get(JSON.stringify([after, limit]), maxAgeMs(request), () =>
      listWorkers(this.database, after, limit),
    );
    const base = this.addresses.baseUrl(request);
    const positionOf = ({ uid, name }: WorkerRow): string => `${uid} ${name}`;
    sendReply(response, list.reply(call, { rows, positionOf, toView, base }));
  }

  @Post(':worker_uid/drain')
  @HttpCode(200)
  @ApiTellWorker(
    'Drain a worker',
    'The worker claims nothing more, and its current runs finish. The order also survives a restart of the ' +
      'worker.',
  )
  @Limited('admin', { needsKey: true })
  drainWorker(
    @Param('worker_uid') uid: string,
    @Req() request: GuardedRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ToldWorkerDto> {
    return this.tell(uid, 'drain', request, response);
  }

  @Delete(':worker_uid/drain')
  @ApiTellWorker('Let a worker claim runs again', 'Takes back an earlier order to drain or to stop.')
  @Limited('admin', { needsKey: true })
  undrainWorker(
    @Param('worker_uid') uid: string,
    @Req() request: GuardedRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ToldWorkerDto> {
    return this.tell(uid, 'run', request, response);
  }

  @Post(':worker_uid/stop')
  @HttpCode(200)
  @ApiTellWorker(
    'Stop a worker',
    'The worker gets the order to end. It claims nothing more, and its claims are answered 410. The order ' +
      'also survives a restart of the worker.',
  )
  @Limited('admin', { needsKey: true })
  stopWorker(
    @Param('worker_uid') uid: string,
    @Req() request: GuardedRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ToldWorkerDto> {
    return this.tell(uid, 'stop', request, response);
  }

  private async tell(
    text: string,
    told: Told,
    request: GuardedRequest,
    response: Response,
  ): Promise<ToldWorkerDto> {
    const reason = await this.reasons.read(request, response);
    const uid = idOf('worker', text);
    const actor = this.trail.actorOf(request, request.caller);
    const name = await this.trail.change(async (manager) => {
      const known = await tellWorker(manager, uid, told);
      if (known === undefined) throw new DomainError('unknown_id', `There is no worker ${uid}.`);
      if (known.before !== told) {
        const [before, after] = [{ told: known.before }, { told }];
        const note = { action: actions[told], target: known.name, before, after, reason };
        await this.trail.write(manager, actor, note);
      }
      return known.name;
    });
    this.events.publish({ workers: [uid] });
    return { uid, name, told };
  }
}

function toView(row: WorkerRow): AdminWorkerDto {
  const { uid, id, name, keyId, keyName, version, labels, models, state: says, running } = row;
  return {
    ...{ uid, id, name, version, labels, models, says, running },
    key: { id: keyId, name: keyName },
    state: stateOf(row),
    seen_at: row.seenAt.toISOString(),
    failures_in_row: row.failuresInRow,
    resting_until: row.restsUntil?.toISOString() ?? null,
  };
}

function stateOf({ isSeen, told, restsUntil }: WorkerRow): WorkerState {
  if (!isSeen) return 'away';
  if (told !== 'run') return told === 'drain' ? 'draining' : 'stopping';
  return restsUntil === null ? 'ready' : 'resting';
}
