import { Controller, Get, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { type Caller, mayUse } from '../auth/caller.js';
import { CurrentCaller } from '../auth/current-caller.decorator.js';
import { BaseUrl, ModelId } from '../http/input/decorators.js';
import { ApiDocument, stableDocumentPath } from '../http/openapi/api-document.js';
import { basePlaceholder, DocumentTemplate } from '../http/openapi/document-template.js';
import { Limited } from '../limits/limited.js';
import type { Model } from '../models/model.js';
import { ModelsService } from '../models/models.service.js';
import { ModelLoads } from '../queue/reads/model-loads.js';
import { NewRequests } from '../requests/new-requests.js';
import type { ModelDto, ModelListDto } from './dto/models.dto.js';
import { modelDocument } from './model-document.js';
import { toModelView } from './model-view.js';
import { ApiModel, ApiModelDocument, ApiModels } from './openapi/operations.js';

@ApiTags('Models')
@Controller('v1/models')
export class ModelsController {
  /** Documents by model. A model whose settings changed is a new object. */
  private readonly documents = new WeakMap<Model, DocumentTemplate>();

  constructor(
    private readonly service: ModelsService,
    private readonly requests: NewRequests,
    private readonly loads: ModelLoads,
    private readonly api: ApiDocument,
  ) {}

  @Get()
  @ApiModels
  @Limited('read', { needsKey: true })
  async listModels(@CurrentCaller() caller: Caller, @BaseUrl() base: string): Promise<ModelListDto> {
    const models = this.service.all().filter(({ id }) => mayUse(caller, id));
    return { data: await this.views(models), openapi_url: `${base}${stableDocumentPath}` };
  }

  @Get('*model_id/openapi.json')
  @ApiModelDocument
  @Limited('read', { needsKey: true })
  readModelDocument(
    @CurrentCaller() caller: Caller,
    @ModelId() path: string | undefined,
    @BaseUrl() base: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const model = this.requests.modelOf(caller, path?.replace(/\/openapi\.json$/i, ''));
    let document = this.documents.get(model);
    if (document === undefined) {
      const text = JSON.stringify(modelDocument(this.api.get(), model, basePlaceholder));
      this.documents.set(model, (document = new DocumentTemplate(text)));
    }
    return document.send(request, response, base);
  }

  @Get('*model_id')
  @ApiModel
  @Limited('read', { needsKey: true })
  async readModel(@CurrentCaller() caller: Caller, @ModelId() id: string | undefined): Promise<ModelDto> {
    return (await this.views([this.requests.modelOf(caller, id)]))[0]!;
  }

  private async views(models: readonly Model[]): Promise<ModelDto[]> {
    const loads = await this.loads.of(models.map(({ id }) => id));
    return models.map((model, i) => toModelView(model, loads[i]!));
  }
}
