import {
  All,
  applyDecorators,
  Controller,
  Get,
  HttpCode,
  type MessageEvent,
  Param,
  Post,
  Put,
  Sse,
  Res,
} from '@nestjs/common';
import { ApiExcludeEndpoint } from '@nestjs/swagger';
import type { Observable } from 'rxjs';
import type { Response } from 'express';
import type { Caller } from '../../auth/caller.js';
import { CurrentCaller } from '../../auth/current-caller.decorator.js';
import { DomainError } from '../../errors/domain-error.js';
import { type InitiatedUploadDto, NewUploadDto } from '../../files/dto/files.dto.js';
import { MayUpload } from '../../files/may-upload.js';
import { Uploads } from '../../files/uploads.js';
import {
  BaseUrl,
  Bytes,
  HeaderFields,
  JsonBody,
  KnownOptions,
  ModelId,
} from '../../http/input/decorators.js';
import { sendReply } from '../../http/reply.js';
import { Limited } from '../../limits/limited.js';
import { LogsQuery } from '../../requests/dto/logs.query.js';
import { maxPendingDataLength, StatusStreams, StreamHeaders } from '../../stream/status-streams.js';
import { type KeyedCall, type OpenCall, TheCall } from '../adapter-call.js';
import { ApiOtherBody, ApiOtherCall, ApiPathText } from '../openapi.js';
import { setRequestId } from './answer-error.js';
import { FalHandlers } from './fal-handlers.js';
import { falHosts } from './follow-target.js';
import { toFalStatus } from './wire.js';

/** A request is found by its id alone, because clients send only the beginning of its model's id. */
const one = '*model_id/requests/:request_id';

const service = { name: 'fal', page: 'docs/fal.md' };
const ofModel = ApiPathText('model_id', 'The id of the model, or its first segments.');
const ofRequest = applyDecorators(ofModel, ApiPathText('request_id', 'The id of the request.'));
const input = ApiOtherBody('The input of the model.');

/** fal's API as its clients call it. */
@Controller('fal')
export class FalController {
  constructor(
    private readonly handlers: FalHandlers,
    private readonly streams: StatusStreams,
    private readonly uploads: Uploads,
  ) {}

  @Sse(`${one}/status/stream`, { maxPendingDataLength })
  @ApiOtherCall(service, 'falStatusStream', 'Follow a status', 'Server-sent events.', ofRequest)
  @Limited('read')
  stream(
    @Param('request_id') requestId: string,
    @KnownOptions(LogsQuery) { logs }: LogsQuery,
    @HeaderFields(StreamHeaders) { 'last-event-id': seen }: StreamHeaders,
    @TheCall() call: OpenCall,
  ): Promise<Observable<MessageEvent>> {
    setRequestId(call.response, requestId);
    return this.streams.open(call, requestId, { logs, seen }, (snapshot, entries) =>
      toFalStatus(snapshot, call.base, entries),
    );
  }

  @Get(`${one}/status`)
  @ApiOtherCall(service, 'falStatus', 'Read a status', '202, or 200 once it has completed.', ofRequest)
  @Limited('read')
  async status(
    @Param('request_id') requestId: string,
    @TheCall() call: OpenCall,
    @Res() response: Response,
  ): Promise<void> {
    sendReply(response, await this.handlers.status(call, requestId));
  }

  @Get(one)
  @ApiOtherCall(service, 'falResult', 'Fetch a result', 'The output of the model, or its error.', ofRequest)
  @Limited('read')
  async result(
    @Param('request_id') requestId: string,
    @TheCall() call: OpenCall,
    @Res() response: Response,
  ): Promise<void> {
    sendReply(response, await this.handlers.result(call, requestId));
  }

  @Get(`${one}/response`)
  @ApiOtherCall(service, 'falResponse', 'Fetch a result', 'As without "/response".', ofRequest)
  @Limited('read')
  response(
    @Param('request_id') requestId: string,
    @TheCall() call: OpenCall,
    @Res() response: Response,
  ): Promise<void> {
    return this.result(requestId, call, response);
  }

  @Put(`${one}/cancel`)
  @ApiOtherCall(service, 'falCancel', 'Cancel a request', '202, or 400 if it has completed.', ofRequest)
  @Limited('cancel')
  async cancel(
    @Param('request_id') requestId: string,
    @TheCall() call: OpenCall,
    @Res() response: Response,
  ): Promise<void> {
    sendReply(response, await this.handlers.cancel(call.caller, requestId));
  }

  /** Answers calls that `followTarget` did not forward. */
  @All()
  @ApiExcludeEndpoint()
  @Limited('read')
  unknown(): never {
    throw new DomainError(
      'bad_request',
      `Here a client with "proxyUrl" sends X-Fal-Target-Url with an address of ${[...falHosts.keys()].join(' or ')}; others are not served.`,
    );
  }

  /** The same as the service's own route. Parameters that only concern fal's storage are ignored. */
  @Post('storage/upload/initiate')
  @HttpCode(200)
  @ApiOtherCall(service, 'falUpload', 'Initiate an upload', 'Returns the URLs of the upload and of the file.')
  @MayUpload()
  initiate(
    @CurrentCaller() { keyId }: Caller,
    @JsonBody(NewUploadDto) upload: NewUploadDto,
    @BaseUrl() base: string,
  ): Promise<InitiatedUploadDto> {
    return this.uploads.initiate({ keyId }, upload, base);
  }

  @Post('run/*model_id/stream')
  @ApiOtherCall(
    service,
    'falStream',
    'Submit, and stream the output',
    'Server-sent events: the parts of the output, then the whole output.',
    ofModel,
    input,
  )
  @Limited('submit', { needsKey: true })
  streamOutput(
    @ModelId('/fal/run') path: string | undefined,
    @TheCall() call: KeyedCall,
    @Bytes() body: Buffer,
    @Res() _response: Response,
  ): Promise<void> {
    const begun = this.handlers.begin(call, path?.replace(/\/stream$/i, ''), body);
    return begun.then((held) => this.handlers.stream(held, call));
  }

  @Post('run/*model_id')
  @ApiOtherCall(
    service,
    'falRun',
    'Submit, and wait for the output',
    'Answers with the output. If the call is closed, the request is cancelled after 10 s.',
    ofModel,
    input,
  )
  @Limited('submit', { needsKey: true })
  run(
    @ModelId('/fal/run') modelId: string | undefined,
    @TheCall() call: KeyedCall,
    @Bytes() body: Buffer,
    @Res() response: Response,
  ): Promise<void> {
    // Not awaited here, because a call that waits would keep its body in memory.
    return this.handlers
      .begin(call, modelId, body)
      .then((held) => this.handlers.run(held, call))
      .then((reply) => reply && sendReply(response, reply));
  }

  @Post('*model_id')
  @ApiOtherCall(service, 'falSubmit', 'Submit a request', 'Answers at once.', ofModel, input)
  @Limited('submit', { needsKey: true })
  async submit(
    @ModelId('/fal') modelId: string | undefined,
    @TheCall() call: KeyedCall,
    @Bytes() body: Buffer,
    @Res() response: Response,
  ): Promise<void> {
    sendReply(response, await this.handlers.submit(call, modelId, body));
  }
}
