import { Controller, Get, HttpCode, Put, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Actor } from '../../audit/actor.decorator.js';
import { Reason } from '../../audit/reason.js';
import type { Caller } from '../../auth/caller.js';
import { CallerWatch } from '../../auth/caller-watch.js';
import { CurrentCaller } from '../../auth/current-caller.decorator.js';
import { linesFile } from '../../batches/batch-view.js';
import { Id } from '../../http/input/decorators.js';
import { type Page, PageOf } from '../../http/input/page.js';
import { sendLines } from '../../http/send-lines.js';
import { Operators } from '../operators.js';
import { AdminBatches } from './batches.js';
import * as docs from './batches.docs.js';
import { type AdminBatchDto, type AdminBatchPageDto, AdminBatchesQuery } from './batches.dto.js';

const BatchId = (): ParameterDecorator => Id('batch', { code: 'batch_not_found' });

/** The batches of all keys. */
@Controller('v1/admin/batches')
export class AdminBatchesController {
  constructor(
    private readonly batches: AdminBatches,
    private readonly watch: CallerWatch,
  ) {}

  @Get()
  @docs.ApiListBatches
  @Operators('observe')
  listBatches(
    @PageOf(AdminBatchesQuery) page: Page<AdminBatchesQuery>,
    @CurrentCaller() caller: Caller,
  ): Promise<AdminBatchPageDto> {
    return this.batches.list(caller, page);
  }

  @Get(':batch_id')
  @docs.ApiReadBatch
  @Operators('observe')
  readBatch(@BatchId() id: string, @CurrentCaller() caller: Caller): Promise<AdminBatchDto> {
    return this.batches.read(caller, id);
  }

  @Put(':batch_id/cancel')
  @HttpCode(202)
  @docs.ApiCancelBatch
  @Operators('admin')
  cancelBatch(
    @BatchId() id: string,
    @CurrentCaller() caller: Caller,
    @Actor() actor: Actor,
    @Reason() reason: string | undefined,
  ): Promise<AdminBatchDto> {
    return this.batches.cancel(caller, actor, id, reason);
  }

  @Get(':batch_id/output')
  @docs.ApiBatchFile('output')
  @Operators('payloads')
  async outputOfBatch(
    @BatchId() id: string,
    @Actor() actor: Actor,
    @Res() response: Response,
  ): Promise<void> {
    const lines = await this.batches.file(actor, id, 'output');
    await sendLines(this.watch, response, linesFile(id), lines);
  }

  @Get(':batch_id/errors')
  @docs.ApiBatchFile('errors')
  @Operators('payloads')
  async errorsOfBatch(
    @BatchId() id: string,
    @Actor() actor: Actor,
    @Res() response: Response,
  ): Promise<void> {
    const lines = await this.batches.file(actor, id, 'errors');
    await sendLines(this.watch, response, linesFile(id), lines);
  }
}
