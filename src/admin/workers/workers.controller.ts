import { Controller, Delete, Get, HttpCode, Post } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { Actor } from '../../audit/actor.decorator.js';
import { Reason } from '../../audit/reason.js';
import { Id } from '../../http/input/decorators.js';
import { type Page, PageOf, PageQuery } from '../../http/input/page.js';
import { ApiCall, ApiProblems } from '../../http/openapi/operations.js';
import { ApiList } from '../../http/openapi/page.dto.js';
import { MaxAge } from '../max-age.js';
import { Operators } from '../operators.js';
import { AdminWorkerPageDto, ToldWorkerDto } from './workers.dto.js';
import { Workers } from './workers.js';

const uid = { param: 'worker_uid' };

const ApiTellWorker = (summary: string, description: string): MethodDecorator =>
  ApiCall(
    summary,
    description,
    ApiOkResponse({ description: 'The order that the worker now has.', type: ToldWorkerDto }),
    ApiProblems('unknown_id'),
  );

/** The workers, which claim runs over HTTP. */
@Controller('v1/admin/workers')
export class AdminWorkersController {
  constructor(private readonly workers: Workers) {}

  @Get()
  @ApiList(
    'List the workers',
    'The programs that claim runs over HTTP, with their runs and states; up to 15 s old.',
    AdminWorkerPageDto,
  )
  @Operators('observe')
  listWorkers(
    @PageOf(PageQuery) page: Page<PageQuery>,
    @MaxAge() ageMs: number,
  ): Promise<AdminWorkerPageDto> {
    return this.workers.list(page, ageMs);
  }

  @Post(':worker_uid/drain')
  @HttpCode(200)
  @ApiTellWorker(
    'Drain a worker',
    'The worker claims nothing more, and its current runs finish. The order also survives a restart of the ' +
      'worker.',
  )
  @Operators('admin')
  drainWorker(
    @Actor() actor: Actor,
    @Id('worker', uid) id: string,
    @Reason() reason: string | undefined,
  ): Promise<ToldWorkerDto> {
    return this.workers.tell(actor, id, 'drain', reason);
  }

  @Delete(':worker_uid/drain')
  @ApiTellWorker('Let a worker claim runs again', 'Takes back an earlier order to drain or to stop.')
  @Operators('admin')
  undrainWorker(
    @Actor() actor: Actor,
    @Id('worker', uid) id: string,
    @Reason() reason: string | undefined,
  ): Promise<ToldWorkerDto> {
    return this.workers.tell(actor, id, 'run', reason);
  }

  @Post(':worker_uid/stop')
  @HttpCode(200)
  @ApiTellWorker(
    'Stop a worker',
    'The worker gets the order to end. It claims nothing more, and its claims are answered 410. The order ' +
      'also survives a restart of the worker.',
  )
  @Operators('admin')
  stopWorker(
    @Actor() actor: Actor,
    @Id('worker', uid) id: string,
    @Reason() reason: string | undefined,
  ): Promise<ToldWorkerDto> {
    return this.workers.tell(actor, id, 'stop', reason);
  }
}
