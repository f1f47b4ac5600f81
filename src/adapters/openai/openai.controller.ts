import type { IncomingHttpHeaders } from 'node:http';
import { Controller, Delete, Get, Headers, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Actor } from '../../audit/actor.decorator.js';
import type { Caller } from '../../auth/caller.js';
import { CurrentCaller } from '../../auth/current-caller.decorator.js';
import { MayUpload } from '../../files/may-upload.js';
import { BaseUrl, Bytes, KnownOptions, Options } from '../../http/input/decorators.js';
import { Limited } from '../../limits/limited.js';
import { type KeyedCall, type OpenCall, TheCall } from '../adapter-call.js';
import { ApiOtherBody, ApiOtherCall, ApiPathText } from '../openapi.js';
import { BatchQuery, OpenAiBatches } from './batches.js';
import { OpenAiFiles } from './kept-files.js';
import { FilesQuery, OwnBatchesQuery } from './list-options.js';
import { ModelCalls } from './model-calls.js';
import { OpenAiModels } from './models.js';
import { Responses } from './responses.js';

const service = { name: 'OpenAI', page: 'docs/openai.md' };
const json = 'The body that OpenAI documents. `model` is an alias or the id of a model.';
const form = 'The form that OpenAI documents.';
const held =
  'Submits a request and answers when it has completed. If the call is closed, the request is cancelled after ' +
  '10 s, unless the client repeats the call.';
const streams = `${held} With \`stream: true\` the answer is a stream of server-sent events.`;

/** OpenAI's API as its clients call it. */
@Controller('openai/v1')
export class OpenAiController {
  constructor(
    private readonly calls: ModelCalls,
    private readonly responses: Responses,
    private readonly files: OpenAiFiles,
    private readonly batches: OpenAiBatches,
    private readonly models: OpenAiModels,
  ) {}

  @Post('chat/completions')
  @ApiOtherCall(service, 'openaiChat', 'Answer a chat', streams, ApiOtherBody(json))
  @Limited('submit', { needsKey: true })
  chat(@CurrentCaller() caller: Caller, @Req() request: Request, @Res() response: Response): Promise<void> {
    return this.calls.answer('chat', { caller, request, response });
  }

  @Post('completions')
  @ApiOtherCall(service, 'openaiCompletion', 'Continue a text', streams, ApiOtherBody(json))
  @Limited('submit', { needsKey: true })
  completion(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    return this.calls.answer('completion', { caller, request, response });
  }

  @Post('embeddings')
  @ApiOtherCall(service, 'openaiEmbeddings', 'Embed texts', held, ApiOtherBody(json))
  @Limited('submit', { needsKey: true })
  embeddings(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    return this.calls.answer('embeddings', { caller, request, response });
  }

  @Post('images/generations')
  @ApiOtherCall(service, 'openaiImages', 'Make images', held, ApiOtherBody(json))
  @Limited('submit', { needsKey: true })
  images(@CurrentCaller() caller: Caller, @Req() request: Request, @Res() response: Response): Promise<void> {
    return this.calls.answer('images', { caller, request, response });
  }

  @Post('audio/speech')
  @ApiOtherCall(service, 'openaiSpeech', 'Speak a text', held, ApiOtherBody(json))
  @Limited('submit', { needsKey: true })
  speech(@CurrentCaller() caller: Caller, @Req() request: Request, @Res() response: Response): Promise<void> {
    return this.calls.answer('speech', { caller, request, response });
  }

  @Post('audio/transcriptions')
  @ApiOtherCall(
    service,
    'openaiTranscription',
    'Transcribe a file',
    streams,
    ApiOtherBody(form, 'multipart/form-data'),
  )
  @Limited('submit', { needsKey: true })
  transcription(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    return this.calls.transcribe({ caller, request, response });
  }

  @Post('responses')
  @HttpCode(200)
  @ApiOtherCall(
    service,
    'openaiCreateResponse',
    'Make a response',
    `${streams} With \`background: true\` it answers at once, or the request continues without its stream. The body goes ` +
      'to the model as it is.',
    ApiOtherBody(json),
  )
  @Limited('submit', { needsKey: true })
  createResponse(@TheCall() call: KeyedCall, @Res() _response: Response): Promise<void> {
    return this.responses.create(call);
  }

  @Get('responses/:response_id')
  @ApiOtherCall(
    service,
    'openaiResponse',
    'Read a response',
    'Its status, and its output once it is there. With `stream=true` the answer is a stream of server-sent events, ' +
      'which begins after the event that `starting_after` numbers.',
  )
  @Limited('read')
  response(
    @Param('response_id') id: string,
    @TheCall() call: OpenCall,
    @Res() _response: Response,
  ): Promise<void> {
    return this.responses.find(call, id);
  }

  @Post('responses/:response_id/cancel')
  @HttpCode(200)
  @ApiOtherCall(
    service,
    'openaiCancelResponse',
    'Cancel a response',
    'Cancels its request, and waits up to 5 s for the end of a run.',
  )
  @Limited('cancel')
  cancelResponse(
    @Param('response_id') id: string,
    @TheCall() call: OpenCall,
    @Res() _response: Response,
  ): Promise<void> {
    return this.responses.cancel(call, id);
  }

  @Delete('responses/:response_id')
  @ApiOtherCall(service, 'openaiDeleteResponse', 'Erase a response', 'Erases its completed request.')
  @Limited('cancel', { needsKey: true })
  deleteResponse(
    @Param('response_id') id: string,
    @CurrentCaller() caller: Caller,
    @Actor() actor: Actor,
  ): Promise<object> {
    return this.responses.erase(caller, actor, id);
  }

  @Post('files')
  @HttpCode(200)
  @ApiOtherCall(
    service,
    'openaiCreateFile',
    'Upload a file',
    'Keeps it until it is deleted, or for the time that `expires_after` says.',
    ApiOtherBody(form, 'multipart/form-data'),
  )
  @MayUpload()
  createFile(
    @CurrentCaller() { keyId }: Caller,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<object> {
    return this.files.create(keyId, request, response);
  }

  @Get('files')
  @ApiOtherCall(
    service,
    'openaiFiles',
    'List files',
    'The files of the key that it keeps. `purpose`, `order`, `limit` and `after` choose among them.',
  )
  @Limited('read', { needsKey: true })
  listFiles(
    @CurrentCaller() { keyId }: Caller,
    @KnownOptions(FilesQuery) query: FilesQuery,
  ): Promise<object> {
    return this.files.list(keyId, query);
  }

  @Get('files/:file_id')
  @ApiOtherCall(service, 'openaiFile', 'Read what is known of a file', 'Its name, size, purpose and times.')
  @Limited('read', { needsKey: true })
  file(@Param('file_id') id: string, @CurrentCaller() caller: Caller): Promise<object> {
    return this.files.find(caller, id);
  }

  @Get('files/:file_id/content')
  @ApiOtherCall(service, 'openaiFileContent', 'Read a file', 'Its bytes.')
  @Limited('read', { needsKey: true })
  fileContent(
    @Param('file_id') id: string,
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    return this.files.send(caller, id, request, response);
  }

  @Delete('files/:file_id')
  @ApiOtherCall(
    service,
    'openaiDeleteFile',
    'Delete a file',
    'It is no longer kept. Requests that name it still find it until they are deleted.',
  )
  @MayUpload()
  deleteFile(
    @Param('file_id') id: string,
    @CurrentCaller() { keyId }: Caller,
    @Actor() actor: Actor,
  ): Promise<object> {
    return this.files.delete(keyId, actor, id);
  }

  @Post('batches')
  @HttpCode(200)
  @ApiOtherCall(
    service,
    'openaiCreateBatch',
    'Make a batch',
    'Submits the lines of an uploaded file as requests, each with the priority `low`. The batch is checked as a whole ' +
      'before any of them is submitted.',
    ApiOtherBody('The body that OpenAI documents. `completion_window` takes any duration.'),
  )
  @Limited('submit', { needsKey: true, isMany: true })
  createBatch(
    @CurrentCaller() caller: Caller,
    @Options(BatchQuery) query: BatchQuery,
    @Headers() headers: IncomingHttpHeaders,
    @Bytes() body: Buffer,
    @BaseUrl() base: string,
  ): Promise<object> {
    return this.batches.create({ caller, body, headers, query, base });
  }

  @Get('batches')
  @ApiOtherCall(
    service,
    'openaiBatches',
    'List batches',
    'The batches of the key, newest first. `limit` and `after` choose among them.',
  )
  @Limited('read', { needsKey: true })
  listBatches(
    @CurrentCaller() caller: Caller,
    @KnownOptions(OwnBatchesQuery) query: OwnBatchesQuery,
  ): Promise<object> {
    return this.batches.list(caller, query);
  }

  @Get('batches/:batch_id')
  @ApiOtherCall(
    service,
    'openaiBatch',
    'Read a batch',
    'Its status and counts. Its output and error file can be read while it runs, and then have the lines so far.',
  )
  @Limited('read', { needsKey: true })
  batch(@Param('batch_id') id: string, @CurrentCaller() caller: Caller): Promise<object> {
    return this.batches.find(caller, id);
  }

  @Post('batches/:batch_id/cancel')
  @HttpCode(200)
  @ApiOtherCall(
    service,
    'openaiCancelBatch',
    'Cancel a batch',
    'Cancels its waiting requests. Each line that has no output yet becomes a line of the error file.',
  )
  @Limited('cancel', { needsKey: true })
  cancelBatch(@Param('batch_id') id: string, @CurrentCaller() caller: Caller): Promise<object> {
    return this.batches.cancel(caller, id);
  }

  @Get('models')
  @ApiOtherCall(service, 'openaiModels', 'List models', 'The models that the key may call.')
  @Limited('read', { needsKey: true })
  listModels(@CurrentCaller() caller: Caller): object {
    return this.models.list(caller);
  }

  @Get('models/*name')
  @ApiOtherCall(
    service,
    'openaiModel',
    'Read a model',
    'A model that the key may call.',
    ApiPathText('name', 'An alias or the id of a model.'),
  )
  @Limited('read', { needsKey: true })
  model(@CurrentCaller() caller: Caller, @Req() { originalUrl }: Request): object {
    return this.models.find(caller, nameIn(originalUrl));
  }
}

/** A name may have slashes, which clients encode. The service refuses a path that is not encoded correctly. */
const nameIn = (url: string): string =>
  decodeURIComponent(url.split('?', 1)[0]!.replace(/^\/openai\/v1\/models\//i, ''));
