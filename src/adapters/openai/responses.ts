import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import type { Actor } from '../../audit/actor.js';
import type { Caller } from '../../auth/caller.js';
import { LongPolls } from '../../requests/long-polls.js';
import { CollectionHandlers } from '../../requests/collection-handlers.js';
import { RequestHandlers } from '../../requests/request-handlers.js';
import type { StatusRow } from '../../queue/reads/status-row.js';
import { CallBodies, notTaken } from './call-body.js';
import type { ModelCall } from './model-call.js';
import { ModelCalls } from './model-calls.js';
import { toResponse } from './wire.js';

/** A cancel waits this long for the end of the run, so that its answer says whether it has ended. */
const cancelWaitMs = 5_000;

/** Responses in background: each is a request. */
@Injectable()
export class Responses {
  constructor(
    private readonly calls: ModelCalls,
    private readonly requests: RequestHandlers,
    private readonly collection: CollectionHandlers,
    private readonly longPolls: LongPolls,
    private readonly bodies: CallBodies,
  ) {}

  async create(call: ModelCall): Promise<object> {
    const read = await this.bodies.read(call);
    const { asked } = read;
    if (!asked.background) throw notTaken('background', 'must be true');
    if (asked.stream) throw notTaken('stream', 'is not served for this call');
    const { row, release } = await this.calls.begin(call, read);
    release();
    return toResponse(row);
  }

  async find(caller: Caller | undefined, id: string, request: Request): Promise<object> {
    return this.view(await this.requests.find(caller, id, request), request);
  }

  async cancel(caller: Caller | undefined, id: string, request: Request): Promise<object> {
    await this.requests.cancel(caller, id);
    const row = await this.requests.find(caller, id, request);
    const last =
      row.state === 'COMPLETED'
        ? row
        : await this.longPolls.hold(row, cancelWaitMs, request.res!, row.modelId);
    return this.view(last ?? (await this.requests.find(caller, id, request)), request);
  }

  async erase(caller: Caller, actor: Actor, id: string): Promise<object> {
    await this.collection.erase(caller, actor, id);
    return { id, object: 'response', deleted: true };
  }

  private async view(row: StatusRow, request: Request): Promise<object> {
    if (row.outcome !== 'succeeded') return toResponse(row);
    return toResponse(row, JSON.parse(await this.requests.output(row, request)));
  }
}
