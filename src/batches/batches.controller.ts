import { Controller, Delete, Get, HttpCode, Post, Put, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import type { Caller } from '../auth/caller.js';
import { CallerWatch } from '../auth/caller-watch.js';
import { CurrentCaller } from '../auth/current-caller.decorator.js';
import { BaseUrl, HeaderFields, Id } from '../http/input/decorators.js';
import { type Page, PageOf } from '../http/input/page.js';
import { sendLines } from '../http/send-lines.js';
import { Limited } from '../limits/limited.js';
import { SubmitHeaders } from '../requests/dto/submit.headers.js';
import { BatchBodies } from './batch-bodies.js';
import { linesFile, toBatchView } from './batch-view.js';
import { Batches } from './batches.js';
import { type BatchDto, type BatchPageDto, BatchesQuery } from './dto/batches.dto.js';
import * as docs from './openapi/batches.js';

const BatchId = (): ParameterDecorator => Id('batch', { code: 'batch_not_found' });

@ApiTags('Batches')
@Controller('v1/batches')
export class BatchesController {
  constructor(
    private readonly batches: Batches,
    private readonly bodies: BatchBodies,
    private readonly watch: CallerWatch,
  ) {}

  @Post()
  @HttpCode(202)
  @docs.ApiCreateBatch
  @Limited('submit', { needsKey: true, isMany: true })
  async createBatch(
    @CurrentCaller() caller: Caller,
    @HeaderFields(SubmitHeaders) headers: SubmitHeaders,
    @BaseUrl() base: string,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<BatchDto> {
    const made = await this.bodies.read(request, response);
    const idempotencyKey = headers['idempotency-key'];
    const { batch, replayed } = await this.batches.create(caller, { ...made, idempotencyKey }, base);
    const view = toBatchView(batch, base);
    response.setHeader('Location', view.batch_url);
    if (replayed) response.setHeader('Idempotent-Replayed', 'true');
    return view;
  }

  @Get()
  @docs.ApiBatches
  @Limited('read', { needsKey: true })
  async listOwnBatches(
    @PageOf(BatchesQuery) page: Page<BatchesQuery>,
    @CurrentCaller() caller: Caller,
    @BaseUrl() base: string,
  ): Promise<BatchPageDto> {
    const { status, tag } = page.query;
    const found = { status, tag, before: page.afterId, limit: page.limit + 1 };
    const rows = await this.batches.list(caller, found);
    return page.of(
      rows,
      ({ id }) => id,
      (batch) => toBatchView(batch, base),
    );
  }

  @Get(':batch_id')
  @docs.ApiReadBatch
  @Limited('read', { needsKey: true })
  async readOwnBatch(
    @BatchId() id: string,
    @CurrentCaller() caller: Caller,
    @BaseUrl() base: string,
  ): Promise<BatchDto> {
    return toBatchView(await this.batches.get(caller, id), base);
  }

  @Put(':batch_id/cancel')
  @docs.ApiCancelBatch
  @Limited('cancel', { needsKey: true })
  async cancelOwnBatch(
    @BatchId() id: string,
    @CurrentCaller() caller: Caller,
    @BaseUrl() base: string,
    @Res({ passthrough: true }) response: Response,
  ): Promise<BatchDto> {
    const batch = await this.batches.cancel(caller, id);
    response.status(batch.status === 'cancelled' ? 200 : 202);
    return toBatchView(batch, base);
  }

  @Delete(':batch_id')
  @HttpCode(204)
  @docs.ApiRemoveBatch
  @Limited('cancel', { needsKey: true })
  deleteBatch(@BatchId() id: string, @CurrentCaller() caller: Caller): Promise<void> {
    return this.batches.remove(caller, id);
  }

  @Get(':batch_id/output')
  @docs.ApiBatchOutput
  @Limited('read', { needsKey: true })
  async readBatchOutput(
    @BatchId() id: string,
    @CurrentCaller() caller: Caller,
    @Res() response: Response,
  ): Promise<void> {
    const batch = await this.batches.get(caller, id);
    await sendLines(this.watch, response, linesFile(id), this.batches.readOutput(batch));
  }

  @Get(':batch_id/errors')
  @docs.ApiBatchErrors
  @Limited('read', { needsKey: true })
  async readBatchErrors(
    @BatchId() id: string,
    @CurrentCaller() caller: Caller,
    @Res() response: Response,
  ): Promise<void> {
    const batch = await this.batches.get(caller, id);
    await sendLines(this.watch, response, linesFile(id), this.batches.readErrors(batch));
  }
}
