import { Controller, Get, HttpCode, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Actor } from '../../audit/actor.decorator.js';
import { Reason } from '../../audit/reason.js';
import type { Caller } from '../../auth/caller.js';
import { CurrentCaller } from '../../auth/current-caller.decorator.js';
import { Id, JsonBody } from '../../http/input/decorators.js';
import { type Page, PageOf, PageQuery } from '../../http/input/page.js';
import { IdCount } from '../../limits/counting.js';
import { Operators } from '../operators.js';
import { maxIds } from '../requests/list.query.js';
import { OperationCalls } from './operation-calls.js';
import * as docs from './operations.docs.js';
import { type OperationDto, type OperationPageDto, StartOperationDto } from './operations.dto.js';

const operationId = { code: 'unknown_operation' } as const;

/** One action on all requests that a filter finds. */
@Controller('v1/admin/operations')
export class OperationsController {
  constructor(private readonly calls: OperationCalls) {}

  @Get()
  @docs.ApiOperations
  @Operators('observe')
  listOperations(
    @PageOf(PageQuery) page: Page<PageQuery>,
    @CurrentCaller() caller: Caller,
  ): Promise<OperationPageDto> {
    return this.calls.list(caller, page);
  }

  @Post()
  @HttpCode(202)
  @docs.ApiStartOperation
  @Operators('admin')
  beginOperation(
    @CurrentCaller() caller: Caller,
    @Actor() actor: Actor,
    @JsonBody(StartOperationDto, { beforeParsing: [IdCount(maxIds)] }) operation: StartOperationDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<object> {
    if (operation.validate_only === true) response.status(200);
    return this.calls.start(caller, actor, operation);
  }

  @Get(':operation_id')
  @docs.ApiReadOperation
  @Operators('observe')
  readOperation(
    @Id('operation', operationId) id: string,
    @CurrentCaller() caller: Caller,
  ): Promise<OperationDto> {
    return this.calls.read(caller, id);
  }

  @Post(':operation_id/stop')
  @HttpCode(200)
  @docs.ApiStopOperation
  @Operators('admin')
  stopOperation(
    @CurrentCaller() caller: Caller,
    @Actor() actor: Actor,
    @Id('operation', operationId) id: string,
    @Reason() reason: string | undefined,
  ): Promise<OperationDto> {
    return this.calls.stop(caller, actor, id, reason);
  }
}
