import { Controller, Get, type MessageEvent, Req, Res, Sse } from '@nestjs/common';
import type { Request, Response } from 'express';
import { EMPTY, map, merge, type Observable } from 'rxjs';
import { type Caller, hasScope } from '../../auth/caller.js';
import { CurrentCaller } from '../../auth/current-caller.decorator.js';
import { Handles } from '../../auth/handles.js';
import { CallerWatch } from '../../auth/caller-watch.js';
import { chargesOf } from '../../http/charges.js';
import { Options } from '../../http/input/decorators.js';
import { type Page, PageOf } from '../../http/input/page.js';
import { keepAlive } from '../../stream/keep-alive.js';
import { useStreamHead } from '../../stream/stream-head.js';
import { type QueueEntryPageDto, QueueQuery, type ShareListDto, SharesQuery } from './live.dto.js';
import { MaxAge } from '../max-age.js';
import { Operators } from '../operators.js';
import * as docs from './live.docs.js';
import { OverviewSource } from './overview-source.js';
import { QueueViews } from './queue-views.js';

/** Most characters of messages that wait for a client that does not read, enough for several of the largest. */
const maxPendingDataLength = 8 * 1024 * 1024;

/** The current state of the service, for operators. */
@Controller('v1/admin')
export class LiveController {
  constructor(
    private readonly source: OverviewSource,
    private readonly queues: QueueViews,
    private readonly watch: CallerWatch,
    private readonly handles: Handles,
  ) {}

  @Sse('events', { maxPendingDataLength })
  @docs.ApiOverview
  @Operators('observe')
  streamOverview(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Observable<MessageEvent> {
    if (request.method !== 'HEAD') chargesOf(request)?.take('streams', 1);
    useStreamHead(response);
    if (request.method === 'HEAD') return EMPTY;
    const withIds = hasScope(caller, 'payloads');
    const shown = this.source.messages.pipe(map((message, at) => message.event(withIds, at === 0)));
    return merge(shown, this.source.alive).pipe(
      this.watch.whilePermitted(request, caller),
      keepAlive(response),
    );
  }

  @Get('queue')
  @docs.ApiQueue
  @Operators('observe')
  adminQueue(
    @PageOf(QueueQuery) page: Page<QueueQuery>,
    @CurrentCaller() caller: Caller,
    @MaxAge() ageMs: number,
  ): Promise<QueueEntryPageDto> {
    return this.queues.list(page, (id) => this.handles.shown(caller, id), ageMs);
  }

  @Get('shares')
  @docs.ApiShares
  @Operators('observe')
  adminShares(@Options(SharesQuery) { model }: SharesQuery): Promise<ShareListDto> {
    return this.queues.shares(model);
  }
}
