import {
  Controller,
  Get,
  Headers,
  HttpCode,
  type MessageEvent,
  Param,
  Post,
  Query,
  Req,
  Res,
  Sse,
} from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { type Observable, takeUntil } from 'rxjs';
import { AuditTrail } from '../../audit/audit-trail.js';
import { type Caller, hasScope } from '../../auth/caller.js';
import { CurrentCaller } from '../../auth/current-caller.decorator.js';
import { Handles } from '../../auth/handles.js';
import { CallerWatch } from '../../auth/caller-watch.js';
import { ClientAddress } from '../../http/client-address.js';
import { validated } from '../../http/input/validated.js';
import { Limited } from '../../limits/limited.js';
import { LogsQuery } from '../../requests/dto/logs.query.js';
import { maxPendingDataLength, StatusStreams, StreamHeaders } from '../../stream/status-streams.js';
import { maxAgeMs } from '../max-age.js';
import { setNextLink } from '../next-link.js';
import { AnyRequests } from './any-requests.js';
import { AnyRequestLists } from './any-request-lists.js';
import { AnyListQuery } from './any-list.query.js';
import { RequestViews } from './any-request-view.js';
import * as docs from './openapi.js';
import { ReasonBodies } from './reason-bodies.js';

/** The requests of all keys, one by one. `:request_id` is an id or a handle. */
@ApiTags('Admin')
@Controller('v1/admin/requests')
export class AnyRequestsController {
  constructor(
    private readonly requests: AnyRequests,
    private readonly lists: AnyRequestLists,
    private readonly streams: StatusStreams,
    private readonly watch: CallerWatch,
    private readonly handles: Handles,
    private readonly trail: AuditTrail,
    private readonly reasons: ReasonBodies,
    private readonly addresses: ClientAddress,
  ) {}

  @Get()
  @docs.ApiAnyList()
  @Limited('observe', { needsKey: true })
  async listAnyRequests(
    @Query() query: AnyListQuery,
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ) {
    const page = await this.lists.page(caller, query, maxAgeMs(request));
    setNextLink(response, `${this.addresses.baseUrl(request)}/v1/admin/requests`, page);
    return page;
  }

  @Get(':request_id')
  @docs.ApiAnyRequest()
  @Limited('observe', { needsKey: true })
  anyRequest(@Param('request_id') id: string, @CurrentCaller() caller: Caller) {
    return this.requests.request(caller, id);
  }

  /** The same request, at the path under which its own caller finds the status. */
  @Get(':request_id/status')
  @docs.ApiAnyStatus()
  @Limited('observe', { needsKey: true })
  anyRequestStatus(@Param('request_id') id: string, @CurrentCaller() caller: Caller) {
    return this.requests.request(caller, id);
  }

  @Get(':request_id/events')
  @docs.ApiLife()
  @Limited('observe', { needsKey: true })
  anyRequestEvents(@Param('request_id') id: string) {
    return this.requests.life(id);
  }

  @Sse(':request_id/status/stream', { maxPendingDataLength })
  @docs.ApiAnyStream()
  @Limited('observe', { needsKey: true })
  async anyRequestStream(
    @Param('request_id') id: string,
    @Query() _query: LogsQuery,
    @Headers() _headers: StreamHeaders,
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Observable<MessageEvent>> {
    const readsLog = validated(LogsQuery, request.query).logs && hasScope(caller, 'payloads');
    const row = readsLog
      ? await this.requests.read(caller, this.trail.actorOf(request, caller), id, 'log')
      : await this.requests.find(id);
    const views = new RequestViews(caller, this.handles);
    const messages = await this.streams.open(request, response, undefined, row.id, (snapshot, logs) =>
      views.status(snapshot, logs),
    );
    return messages.pipe(takeUntil(this.watch.refused(request, caller)));
  }

  @Post(':request_id/cancel')
  @HttpCode(200)
  @docs.ApiAnyCancel()
  @Limited('admin', { needsKey: true })
  async cancelAnyRequest(
    @Param('request_id') id: string,
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ) {
    const reason = await this.reasons.read(request, response);
    return this.requests.cancel(caller, this.trail.actorOf(request, caller), id, reason);
  }

  @Post(':request_id/retry')
  @HttpCode(202)
  @docs.ApiAnyRetry()
  @Limited('admin', { needsKey: true })
  async retryAnyRequest(
    @Param('request_id') id: string,
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ) {
    const reason = await this.reasons.read(request, response);
    const { headers } = request;
    return this.requests.retry(caller, this.trail.actorOf(request, caller), id, { reason, headers });
  }

  @Post(':request_id/erase')
  @HttpCode(204)
  @docs.ApiAnyErase()
  @Limited('admin', { needsKey: true })
  async eraseAnyRequest(
    @Param('request_id') id: string,
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<void> {
    const reason = await this.reasons.read(request, response);
    await this.requests.erase(this.trail.actorOf(request, caller), id, reason);
  }
}
