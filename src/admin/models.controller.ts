import { Controller, Get, HttpCode, Patch, Post, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { AuditTrail } from '../audit/audit-trail.js';
import type { Caller } from '../auth/caller.js';
import { CurrentCaller, type GuardedRequest } from '../auth/current-caller.decorator.js';
import { DomainError } from '../errors/domain-error.js';
import { BodyReader } from '../http/body-reader.js';
import { Limited } from '../limits/limited.js';
import { type Pause, pauses } from '../models/model.js';
import { assertKnown, assertNoOptions } from '../http/input/option.js';
import { parseObjectBody } from '../http/input/json-body.js';
import { modelIdOfPath } from '../http/input/model-path.js';
import type { AdminModelDto, AdminModelListDto, ModelsReloadDto } from './dto/models.dto.js';
import { type ControlChange, ModelControl } from './model-control.js';
import { ModelsReload } from './models-reload.js';
import { ReasonBodies, reasonOf } from './requests/reason-bodies.js';
import { ApiAdminModel, ApiAdminModels, ApiChangeModel, ApiReloadModels } from './openapi/models.js';

const example = '{"paused": "hold", "reason": "new weights"}';
const maxConcurrency = 10_000;

/** Models, as operators see and change them. */
@ApiTags('Admin')
@Controller('v1/admin/models')
export class AdminModelsController {
  constructor(
    private readonly control: ModelControl,
    private readonly files: ModelsReload,
    private readonly trail: AuditTrail,
    private readonly bodies: BodyReader,
    private readonly reasons: ReasonBodies,
  ) {}

  @Get()
  @ApiAdminModels()
  @Limited('observe', { needsKey: true })
  async adminModels(): Promise<AdminModelListDto> {
    return { data: await this.control.list(), next_cursor: null };
  }

  @Post('reload')
  @HttpCode(200)
  @ApiReloadModels()
  @Limited('admin', { needsKey: true })
  async reloadModels(
    @CurrentCaller() caller: Caller,
    @Req() request: GuardedRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ModelsReloadDto> {
    const reason = await this.reasons.read(request, response);
    return this.files.reload(this.trail.actorOf(request, caller), reason);
  }

  @Get('*model_id')
  @ApiAdminModel()
  @Limited('observe', { needsKey: true })
  async adminModel(
    @Req() request: GuardedRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<AdminModelDto> {
    const { view, version } = await this.control.find(modelIdOfPath(request.originalUrl));
    response.setHeader('ETag', version);
    return view;
  }

  @Patch('*model_id')
  @ApiChangeModel()
  @Limited('admin', { needsKey: true })
  async changeModel(
    @CurrentCaller() caller: Caller,
    @Req() request: GuardedRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<AdminModelDto> {
    assertNoOptions(request.query);
    const change = changeOf(await this.bodies.read(request, response));
    const id = modelIdOfPath(request.originalUrl);
    const actor = this.trail.actorOf(request, caller);
    const { view, version } = await this.control.change(actor, id, change, request.headers['if-match']);
    response.setHeader('ETag', version);
    return view;
  }
}

function changeOf(body: Buffer): ControlChange {
  const { value } = parseObjectBody(body, { example });
  assertKnown(Object.entries(value), ['concurrency', 'paused', 'reason']);
  const { concurrency, paused } = value;
  const isNumber = Number.isInteger(concurrency) && Number(concurrency) >= 1;
  if (
    concurrency !== undefined &&
    concurrency !== null &&
    !(isNumber && Number(concurrency) <= maxConcurrency)
  )
    throw wrong(
      'concurrency',
      `a whole number from 1 to ${maxConcurrency}, or null for the value of the file`,
    );
  if (paused !== undefined && paused !== null && paused !== false && !pauses.includes(paused as Pause))
    throw wrong('paused', 'false, "hold", "reject", or null for false');
  return {
    concurrency: concurrency as number | null | undefined,
    paused: paused === false ? null : (paused as Pause | null | undefined),
    reason: reasonOf(value),
  };
}

const wrong = (name: string, expected: string): DomainError =>
  new DomainError('bad_request', `"${name}" takes ${expected}, as in ${example}.`);
