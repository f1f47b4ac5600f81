import { Controller, Get, Headers, type MessageEvent, Param, Query, Req, Res, Sse } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { type Observable, takeUntil } from 'rxjs';
import { AuditTrail } from '../../audit/audit-trail.js';
import type { Caller } from '../../auth/caller.js';
import { CurrentCaller } from '../../auth/current-caller.decorator.js';
import { CallerWatch } from '../../auth/caller-watch.js';
import { ClientAddress } from '../../http/client-address.js';
import { Limited } from '../../limits/limited.js';
import {
  maxPendingOutputLength,
  OutputHeaders,
  OutputQuery,
  OutputStreams,
} from '../../stream/output-streams.js';
import { setNextLink } from '../next-link.js';
import { AnyRequests } from './any-requests.js';
import { LogQuery, logPosition } from './log.query.js';
import * as docs from './openapi.js';
import { sendPayload, sendPicture, wantedSlice } from './payload-answers.js';

const logPage = 1_000;

/** The inputs, logs and outputs of requests of all keys. Reading them is audited. */
@ApiTags('Admin')
@Controller('v1/admin/requests/:request_id')
export class AnyPayloadsController {
  constructor(
    private readonly requests: AnyRequests,
    private readonly outputs: OutputStreams,
    private readonly watch: CallerWatch,
    private readonly trail: AuditTrail,
    private readonly addresses: ClientAddress,
  ) {}

  @Sse('output/stream', { maxPendingDataLength: maxPendingOutputLength })
  @docs.ApiAnyOutputStream()
  @Limited('payloads', { needsKey: true })
  async anyRequestOutput(
    @Param('request_id') id: string,
    @Query() _query: OutputQuery,
    @Headers() _headers: OutputHeaders,
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Observable<MessageEvent>> {
    const row = await this.requests.read(caller, this.trail.actorOf(request, caller), id, 'output');
    const events = await this.outputs.open(request, response, undefined, row.id);
    return events.pipe(takeUntil(this.watch.refused(request, caller)));
  }

  @Get('log')
  @docs.ApiAnyLog()
  @Limited('payloads', { needsKey: true })
  async anyRequestLog(
    @Param('request_id') id: string,
    @Query() query: LogQuery,
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ) {
    const after = logPosition(query);
    const actor = this.trail.actorOf(request, caller);
    const page = await this.requests.log(caller, actor, id, { after, limit: logPage });
    setNextLink(response, `${this.addresses.baseUrl(request)}/v1/admin/requests/${id}/log`, page);
    return page;
  }

  @Get('input')
  @docs.ApiAnyPayload('input')
  @Limited('payloads', { needsKey: true })
  async anyRequestInput(
    @Param('request_id') id: string,
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const actor = this.trail.actorOf(request, caller);
    sendPayload(
      request,
      response,
      await this.requests.payload(caller, actor, id, 'input', wantedSlice(request)),
    );
  }

  @Get('response')
  @docs.ApiAnyPayload('output')
  @Limited('payloads', { needsKey: true })
  async anyRequestResponse(
    @Param('request_id') id: string,
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const actor = this.trail.actorOf(request, caller);
    sendPayload(
      request,
      response,
      await this.requests.payload(caller, actor, id, 'output', wantedSlice(request)),
    );
  }

  @Get('picture')
  @docs.ApiPicture()
  @Limited('payloads', { needsKey: true })
  async anyRequestPicture(
    @Param('request_id') id: string,
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const actor = this.trail.actorOf(request, caller);
    const all = { from: 0, to: Infinity };
    sendPicture(response, await this.requests.payload(caller, actor, id, 'output', all));
  }
}
