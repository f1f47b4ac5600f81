import { Controller, Get, type MessageEvent, Query, Req, Res, Sse } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { EMPTY, exhaustMap, filter, interval, map, type Observable, takeUntil } from 'rxjs';
import { CallerResolver } from '../../auth/caller-resolver.js';
import { type Caller, hasScope } from '../../auth/caller.js';
import { CurrentCaller } from '../../auth/current-caller.decorator.js';
import { Handles } from '../../auth/handles.js';
import { Limited } from '../../limits/limited.js';
import { ClusterSnapshots } from '../../overview/cluster-snapshots.js';
import type { AdminNodeListDto } from '../../overview/dto/nodes.dto.js';
import { toNodes } from '../../overview/node-view.js';
import { keepAlive } from '../../stream/keep-alive.js';
import type { QueueEntryPageDto, ShareListDto } from '../dto/live.dto.js';
import * as docs from './openapi.js';
import { OverviewSource } from './overview-source.js';
import { QueueViews } from './queue-views.js';

/** Characters of messages that wait for a client that is not reading: some of the largest. */
const maxPendingDataLength = 8 * 1024 * 1024;
/** So soon a stream ends whose key or session is no more. */
const lookAtCallerEveryMs = 5_000;

/** What is going on, for operators. */
@ApiTags('Admin')
@Controller('v1/admin')
export class LiveController {
  constructor(
    private readonly source: OverviewSource,
    private readonly snapshots: ClusterSnapshots,
    private readonly queues: QueueViews,
    private readonly callers: CallerResolver,
    private readonly handles: Handles,
  ) {}

  @Sse('events', { maxPendingDataLength })
  @docs.ApiOverview()
  @Limited('observe', { needsKey: true })
  overview(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Observable<MessageEvent> {
    response.setHeader('Cache-Control', 'no-cache, no-transform');
    if (request.method === 'HEAD') return EMPTY;
    const withIds = hasScope(caller, 'payloads');
    return this.source.messages.pipe(
      map((message, at) => message.event(withIds, at === 0)),
      takeUntil(this.refused(request, withIds)),
      keepAlive(response),
    );
  }

  @Get('queue')
  @docs.ApiQueue()
  @Limited('observe', { needsKey: true })
  queue(
    @Query() query: Record<string, unknown>,
    @CurrentCaller() caller: Caller,
  ): Promise<QueueEntryPageDto> {
    return this.queues.page(query, (id) => this.handles.shown(caller, id));
  }

  @Get('shares')
  @docs.ApiShares()
  @Limited('observe', { needsKey: true })
  shares(@Query() query: Record<string, unknown>): Promise<ShareListDto> {
    return this.queues.shares(query);
  }

  @Get('nodes')
  @docs.ApiNodes()
  @Limited('observe', { needsKey: true })
  async nodes(): Promise<AdminNodeListDto> {
    return { data: toNodes(await this.snapshots.get()), next_cursor: null };
  }

  /** The key was revoked, the session ended, or one of them may see less than before. */
  private refused(request: Request, withIds: boolean): Observable<unknown> {
    return interval(lookAtCallerEveryMs).pipe(
      exhaustMap(async () => this.callers.resolveAnew(request)),
      filter(
        (found) =>
          found.kind !== 'caller' ||
          !hasScope(found.caller, 'observe') ||
          (withIds && !hasScope(found.caller, 'payloads')),
      ),
    );
  }
}
