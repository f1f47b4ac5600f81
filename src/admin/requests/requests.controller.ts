import {
  Controller,
  Get,
  Headers,
  HttpCode,
  type MessageEvent,
  Param,
  Post,
  Req,
  Res,
  Sse,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Observable } from 'rxjs';
import { Actor } from '../../audit/actor.decorator.js';
import { Reason } from '../../audit/reason.js';
import { type Caller, hasScope } from '../../auth/caller.js';
import { CurrentCaller } from '../../auth/current-caller.decorator.js';
import { Handles } from '../../auth/handles.js';
import { CallerWatch } from '../../auth/caller-watch.js';
import { HeaderFields, KnownOptions } from '../../http/input/decorators.js';
import { type Page, PageOf } from '../../http/input/page.js';
import { LogsQuery } from '../../requests/dto/logs.query.js';
import { maxPendingDataLength, StatusStreams, StreamHeaders } from '../../stream/status-streams.js';
import { MaxAge } from '../max-age.js';
import { Operators } from '../operators.js';
import { AdminRequests } from './requests.js';
import { AdminRequestLists } from './request-lists.js';
import { AdminListQuery } from './list.query.js';
import { AdminRequestViews } from './request-view.js';
import * as docs from './requests.docs.js';

/** The requests of all keys, one by one. `:request_id` is an id or a handle. */
@Controller('v1/admin/requests')
export class AdminRequestsController {
  constructor(
    private readonly requests: AdminRequests,
    private readonly lists: AdminRequestLists,
    private readonly streams: StatusStreams,
    private readonly watch: CallerWatch,
    private readonly handles: Handles,
  ) {}

  @Get()
  @docs.ApiAnyList
  @Operators('observe')
  listAnyRequests(
    @PageOf(AdminListQuery) page: Page<AdminListQuery>,
    @CurrentCaller() caller: Caller,
    @MaxAge() ageMs: number,
  ) {
    return this.lists.list(caller, page, ageMs);
  }

  @Get(':request_id')
  @docs.ApiAnyRequest
  @Operators('observe')
  readAnyRequest(@Param('request_id') id: string, @CurrentCaller() caller: Caller) {
    return this.requests.request(caller, id);
  }

  /** The same request, at the path under which its own caller finds the status. */
  @Get(':request_id/status')
  @docs.ApiAnyStatus
  @Operators('observe')
  anyRequestStatus(@Param('request_id') id: string, @CurrentCaller() caller: Caller) {
    return this.requests.request(caller, id);
  }

  @Get(':request_id/events')
  @docs.ApiLife
  @Operators('observe')
  anyRequestEvents(@Param('request_id') id: string) {
    return this.requests.life(id);
  }

  @Sse(':request_id/status/stream', { maxPendingDataLength })
  @docs.ApiAnyStream
  @Operators('observe')
  async anyRequestStream(
    @Param('request_id') id: string,
    @KnownOptions(LogsQuery) { logs }: LogsQuery,
    @HeaderFields(StreamHeaders) { 'last-event-id': seen }: StreamHeaders,
    @CurrentCaller() caller: Caller,
    @Actor() actor: Actor,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Observable<MessageEvent>> {
    const readsLog = logs && hasScope(caller, 'payloads');
    const row = readsLog ? await this.requests.read(caller, actor, id, 'log') : await this.requests.find(id);
    const views = new AdminRequestViews(caller, this.handles);
    const call = { request, response, caller: undefined };
    const messages = await this.streams.open(call, row.id, { logs, seen }, (snapshot, entries) =>
      views.status(snapshot, entries),
    );
    return messages.pipe(this.watch.whilePermitted(request, caller));
  }

  @Post(':request_id/cancel')
  @HttpCode(200)
  @docs.ApiAnyCancel
  @Operators('admin')
  cancelAnyRequest(
    @Param('request_id') id: string,
    @CurrentCaller() caller: Caller,
    @Actor() actor: Actor,
    @Reason() reason: string | undefined,
  ) {
    return this.requests.cancel(caller, actor, id, reason);
  }

  @Post(':request_id/retry')
  @HttpCode(202)
  @docs.ApiAnyRetry
  @Operators('admin')
  retryAnyRequest(
    @Param('request_id') id: string,
    @CurrentCaller() caller: Caller,
    @Actor() actor: Actor,
    @Reason() reason: string | undefined,
    @Headers() headers: object,
  ) {
    return this.requests.retry(caller, actor, id, { reason, headers });
  }

  @Post(':request_id/erase')
  @HttpCode(204)
  @docs.ApiAnyErase
  @Operators('admin')
  eraseAnyRequest(
    @Param('request_id') id: string,
    @Actor() actor: Actor,
    @Reason() reason: string | undefined,
  ): Promise<void> {
    return this.requests.erase(actor, id, reason);
  }
}
