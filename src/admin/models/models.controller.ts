import { Controller, Get, HttpCode, Patch, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Actor } from '../../audit/actor.decorator.js';
import { Reason } from '../../audit/reason.js';
import { HeaderFields, JsonBody, ModelId } from '../../http/input/decorators.js';
import {
  type AdminModelDto,
  type AdminModelListDto,
  IfMatchHeaders,
  ModelChangeDto,
  type ModelsReloadDto,
} from './models.dto.js';
import { ModelControl } from './model-control.js';
import { ModelsReload } from './models-reload.js';
import {
  ApiAdminModel,
  ApiAdminModels,
  ApiChangeModel,
  ApiProbeModel,
  ApiReloadModels,
} from './models.docs.js';
import { Operators } from '../operators.js';

/** Models, as operators see and change them. */
@Controller('v1/admin/models')
export class AdminModelsController {
  constructor(
    private readonly control: ModelControl,
    private readonly files: ModelsReload,
  ) {}

  @Get()
  @ApiAdminModels
  @Operators('observe')
  async adminModels(): Promise<AdminModelListDto> {
    return { data: await this.control.list(), next_cursor: null };
  }

  @Post('reload')
  @HttpCode(200)
  @ApiReloadModels
  @Operators('admin')
  reloadModels(@Actor() actor: Actor, @Reason() reason: string | undefined): Promise<ModelsReloadDto> {
    return this.files.reload(actor, reason);
  }

  @Post('*model_id/probe')
  @HttpCode(200)
  @ApiProbeModel
  @Operators('admin')
  probeModel(
    @Actor() actor: Actor,
    @ModelId() path: string | undefined,
    @Reason() reason: string | undefined,
  ): Promise<AdminModelDto> {
    return this.control.probe(actor, path?.replace(/\/probe$/i, ''), reason);
  }

  @Get('*model_id')
  @ApiAdminModel
  @Operators('observe')
  async readAdminModel(
    @ModelId() id: string | undefined,
    @Res({ passthrough: true }) response: Response,
  ): Promise<AdminModelDto> {
    const { view, version } = await this.control.find(id);
    response.setHeader('ETag', version);
    return view;
  }

  @Patch('*model_id')
  @ApiChangeModel
  @Operators('admin')
  async changeModel(
    @Actor() actor: Actor,
    @ModelId() id: string | undefined,
    @JsonBody(ModelChangeDto) change: ModelChangeDto,
    @HeaderFields(IfMatchHeaders) { 'if-match': ifMatch }: IfMatchHeaders,
    @Res({ passthrough: true }) response: Response,
  ): Promise<AdminModelDto> {
    const { view, version } = await this.control.change(actor, id, change, ifMatch);
    response.setHeader('ETag', version);
    return view;
  }
}
