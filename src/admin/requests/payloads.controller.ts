import { Controller, Get, type MessageEvent, Param, Req, Res, Sse } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Observable } from 'rxjs';
import { Actor } from '../../audit/actor.decorator.js';
import type { Caller } from '../../auth/caller.js';
import { CurrentCaller } from '../../auth/current-caller.decorator.js';
import { CallerWatch } from '../../auth/caller-watch.js';
import { HeaderFields, KnownOptions } from '../../http/input/decorators.js';
import { type Page, PageOf } from '../../http/input/page.js';
import {
  maxPendingOutputLength,
  OutputHeaders,
  OutputQuery,
  OutputStreams,
} from '../../stream/output-streams.js';
import { Operators } from '../operators.js';
import { AdminRequests } from './requests.js';
import { LogQuery } from './list.query.js';
import * as docs from './requests.docs.js';
import { sendPayload, sendPicture, wantedSlice } from './payload-answers.js';

/** The inputs, logs and outputs of requests of all keys. Reading them is audited. */
@Controller('v1/admin/requests/:request_id')
export class AdminPayloadsController {
  constructor(
    private readonly requests: AdminRequests,
    private readonly outputs: OutputStreams,
    private readonly watch: CallerWatch,
  ) {}

  @Sse('output/stream', { maxPendingDataLength: maxPendingOutputLength })
  @docs.ApiAnyOutputStream
  @Operators('payloads')
  async anyRequestOutput(
    @Param('request_id') id: string,
    @KnownOptions(OutputQuery) query: OutputQuery,
    @HeaderFields(OutputHeaders) headers: OutputHeaders,
    @CurrentCaller() caller: Caller,
    @Actor() actor: Actor,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Observable<MessageEvent>> {
    const row = await this.requests.read(caller, actor, id, 'output');
    const call = { request, response, caller: undefined };
    const events = await this.outputs.open(call, row.id, headers, query);
    return events.pipe(this.watch.whilePermitted(request, caller));
  }

  @Get('log')
  @docs.ApiAnyLog
  @Operators('payloads')
  anyRequestLog(
    @Param('request_id') id: string,
    @PageOf(LogQuery) page: Page<LogQuery>,
    @CurrentCaller() caller: Caller,
    @Actor() actor: Actor,
  ) {
    return this.requests.log(caller, actor, id, page);
  }

  @Get('input')
  @docs.ApiAnyPayload('input')
  @Operators('payloads')
  async anyRequestInput(
    @Param('request_id') id: string,
    @CurrentCaller() caller: Caller,
    @Actor() actor: Actor,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const slice = wantedSlice(request);
    sendPayload(request, response, await this.requests.payload(caller, actor, id, 'input', slice));
  }

  @Get('response')
  @docs.ApiAnyPayload('output')
  @Operators('payloads')
  async anyRequestResponse(
    @Param('request_id') id: string,
    @CurrentCaller() caller: Caller,
    @Actor() actor: Actor,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const slice = wantedSlice(request);
    sendPayload(request, response, await this.requests.payload(caller, actor, id, 'output', slice));
  }

  @Get('picture')
  @docs.ApiPicture
  @Operators('payloads')
  async anyRequestPicture(
    @Param('request_id') id: string,
    @CurrentCaller() caller: Caller,
    @Actor() actor: Actor,
    @Res() response: Response,
  ): Promise<void> {
    const all = { from: 0, to: Infinity };
    sendPicture(response, await this.requests.payload(caller, actor, id, 'output', all));
  }
}
