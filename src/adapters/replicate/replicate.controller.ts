import { Controller, Delete, Get, HttpCode, type MessageEvent, Param, Post, Sse, Res } from '@nestjs/common';
import type { Observable } from 'rxjs';
import type { Response } from 'express';
import { Actor } from '../../audit/actor.decorator.js';
import type { Caller } from '../../auth/caller.js';
import { CurrentCaller } from '../../auth/current-caller.decorator.js';
import { MayUpload } from '../../files/may-upload.js';
import { Bytes, HeaderFields } from '../../http/input/decorators.js';
import { type Page, PageOf } from '../../http/input/page.js';
import { sendReply } from '../../http/reply.js';
import { Limited } from '../../limits/limited.js';
import { maxPendingOutputLength, OutputHeaders } from '../../stream/output-streams.js';
import { type KeyedCall, type OpenCall, TheCall } from '../adapter-call.js';
import { ApiOtherBody, ApiOtherCall, ApiPathText } from '../openapi.js';
import { PredictionStreams } from './prediction-streams.js';
import { PredictionsQuery } from './predictions.query.js';
import { ReplicateFiles } from './replicate-files.js';
import { ReplicateHandlers } from './replicate-handlers.js';
import { ReplicateModels } from './replicate-models.js';

const service = { name: 'Replicate', page: 'docs/replicate.md' };
const json = 'The body that Replicate documents: `input`, `webhook` and `webhook_events_filter`.';
const waits =
  'Answers at once, or with `Prefer: wait` when the prediction has ended or the wait is over. A call that is closed ' +
  'before that cancels the prediction after 10 s, unless the client repeats the call.';
const ApiPrediction = ApiPathText('request_id', 'The `id` of the prediction.');
const ApiName = ApiPathText('name', 'The id of a model, or an alias of it.');
const ApiFileId = ApiPathText('file_id', 'The `id` of the file.');

/** The segments of the path that name a model. */
const joined = { transform: (segments: readonly string[]): string => segments.join('/') };

/** Replicate's API as its clients call it. */
@Controller('replicate/v1')
export class ReplicateController {
  constructor(
    private readonly handlers: ReplicateHandlers,
    private readonly streams: PredictionStreams,
    private readonly models: ReplicateModels,
    private readonly files: ReplicateFiles,
  ) {}

  @Post('predictions')
  @ApiOtherCall(service, 'replicateCreate', 'Make a prediction by a version', waits, ApiOtherBody(json))
  @Limited('submit', { needsKey: true })
  async create(@TheCall() call: KeyedCall, @Bytes() body: Buffer, @Res() response: Response): Promise<void> {
    const reply = await this.handlers.create({ ...call, body });
    if (reply !== undefined) sendReply(response, reply);
  }

  @Post('models/*name/predictions')
  @ApiOtherCall(service, 'replicateRun', 'Make a prediction', waits, ApiOtherBody(json), ApiName)
  @Limited('submit', { needsKey: true })
  async run(
    @Param('name', joined) name: string,
    @TheCall() call: KeyedCall,
    @Bytes() body: Buffer,
    @Res() response: Response,
  ): Promise<void> {
    const reply = await this.handlers.create({ ...call, name, body });
    if (reply !== undefined) sendReply(response, reply);
  }

  @Post('deployments/*name/predictions')
  @ApiOtherCall(
    service,
    'replicateRunDeployment',
    'Make a prediction by a deployment',
    waits,
    ApiOtherBody(json),
    ApiName,
  )
  @Limited('submit', { needsKey: true })
  runDeployment(
    @Param('name', joined) name: string,
    @TheCall() call: KeyedCall,
    @Bytes() body: Buffer,
    @Res() response: Response,
  ): Promise<void> {
    return this.run(name, call, body, response);
  }

  @Get('predictions')
  @ApiOtherCall(service, 'replicateList', 'List predictions', 'Newest first, in pages, without payloads.')
  @Limited('read', { needsKey: true })
  async list(
    @PageOf(PredictionsQuery) page: Page<PredictionsQuery>,
    @TheCall() call: KeyedCall,
    @Res() response: Response,
  ): Promise<void> {
    sendReply(response, await this.handlers.list(call, page));
  }

  @Sse('predictions/:request_id/stream', { maxPendingDataLength: maxPendingOutputLength })
  @ApiOtherCall(
    service,
    'replicateStream',
    'Follow a prediction',
    'Server-sent events: `output`, `logs`, `error`, `done`. The URL `urls.stream` of a prediction needs no key.',
    ApiPrediction,
  )
  @Limited('read', { isOpen: true })
  stream(
    @Param('request_id') id: string,
    @HeaderFields(OutputHeaders) headers: OutputHeaders,
    @TheCall() call: OpenCall,
  ): Promise<Observable<MessageEvent>> {
    return this.streams.open(call, id, call.request.query, headers);
  }

  @Get('predictions/:request_id')
  @ApiOtherCall(
    service,
    'replicateGet',
    'Read a prediction',
    'Its status, input, output and log.',
    ApiPrediction,
  )
  @Limited('read')
  async find(
    @Param('request_id') id: string,
    @TheCall() call: OpenCall,
    @Res() response: Response,
  ): Promise<void> {
    sendReply(response, await this.handlers.find(call, id));
  }

  @Post('predictions/:request_id/cancel')
  @ApiOtherCall(
    service,
    'replicateCancel',
    'Cancel a prediction',
    'A prediction that runs is asked to stop. The call waits 2 s for that.',
    ApiPrediction,
  )
  @Limited('cancel')
  async cancel(
    @Param('request_id') id: string,
    @TheCall() call: OpenCall,
    @Res() response: Response,
  ): Promise<void> {
    sendReply(response, await this.handlers.cancel(call, id));
  }

  @Get('models/*name/versions')
  @ApiOtherCall(service, 'replicateVersions', 'List versions', 'The only version of a model.', ApiName)
  @Limited('read', { needsKey: true })
  versions(@Param('name', joined) name: string, @CurrentCaller() caller: Caller): object {
    return this.models.versions(caller, name);
  }

  @Get('models/*name/versions/*version')
  @ApiOtherCall(
    service,
    'replicateVersion',
    'Read a version',
    'The version with the schema of its input.',
    ApiPathText('name', 'Any owner and name.'),
    ApiPathText('version', 'The id of a model, or an alias of it.'),
  )
  @Limited('read', { needsKey: true })
  version(@Param('version', joined) version: string, @CurrentCaller() caller: Caller): object {
    return this.models.version(caller, version);
  }

  @Get('deployments/*name')
  @ApiOtherCall(
    service,
    'replicateDeployment',
    'Read a deployment',
    'Each model is a deployment of the same name.',
    ApiName,
  )
  @Limited('read', { needsKey: true })
  deployment(@Param('name', joined) name: string, @CurrentCaller() caller: Caller): object {
    return this.models.deployment(caller, name);
  }

  @Get('models/*name')
  @ApiOtherCall(service, 'replicateModel', 'Read a model', 'The model with the schema of its input.', ApiName)
  @Limited('read', { needsKey: true })
  model(@Param('name', joined) name: string, @TheCall() { caller, base }: KeyedCall): object {
    return this.models.find(caller, name, base);
  }

  @Post('files')
  @HttpCode(201)
  @ApiOtherCall(
    service,
    'replicateUpload',
    'Upload a file',
    'The file is kept for a day. `urls.get` is the URL to use in an input.',
    ApiOtherBody('A form with the file as `content`.', 'multipart/form-data'),
  )
  @MayUpload()
  upload(@TheCall() { caller, base, request, response }: KeyedCall): Promise<object> {
    return this.files.create(caller.keyId, base, request, response);
  }

  @Get('files')
  @ApiOtherCall(service, 'replicateFiles', 'List files', 'The files of the key, newest first.')
  @Limited('read', { needsKey: true })
  listFiles(@TheCall() { caller, base }: KeyedCall): Promise<object> {
    return this.files.list(caller.keyId, base);
  }

  @Get('files/:file_id')
  @ApiOtherCall(
    service,
    'replicateFile',
    'Read what is known of a file',
    'Its size, type and URL.',
    ApiFileId,
  )
  @Limited('read', { needsKey: true })
  file(@Param('file_id') id: string, @TheCall() { caller, base }: KeyedCall): Promise<object> {
    return this.files.find(caller.keyId, id, base);
  }

  @Delete('files/:file_id')
  @HttpCode(204)
  @ApiOtherCall(
    service,
    'replicateDeleteFile',
    'Delete a file',
    'Requests that name it still find it.',
    ApiFileId,
  )
  @MayUpload()
  deleteFile(
    @Param('file_id') id: string,
    @CurrentCaller() { keyId }: Caller,
    @Actor() actor: Actor,
  ): Promise<void> {
    return this.files.delete(keyId, actor, id);
  }

  @Get('webhooks/default/secret')
  @ApiOtherCall(
    service,
    'replicateWebhookSecret',
    'Read the secret of webhooks',
    'The secret with which the webhooks of the key are signed.',
  )
  @Limited('any', { needsKey: true })
  secret(@CurrentCaller() caller: Caller): Promise<{ key: string }> {
    return this.handlers.webhookSecret(caller);
  }
}
