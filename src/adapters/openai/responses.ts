import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import type { Actor } from '../../audit/actor.js';
import type { Caller } from '../../auth/caller.js';
import { LongPolls } from '../../requests/long-polls.js';
import { CollectionHandlers } from '../../requests/collection-handlers.js';
import { RequestHandlers } from '../../requests/request-handlers.js';
import type { StatusRow } from '../../queue/reads/status-row.js';
import type { HeldCall } from '../held-calls.js';
import { CallBodies, notContinued, notTaken } from './call-body.js';
import type { ModelCall } from './model-call.js';
import { ModelCalls } from './model-calls.js';
import { toResponse } from './wire.js';

/** A cancel waits this long for the end of the run, so that its answer says whether it has ended. */
const cancelWaitMs = 5_000;

const notStreamed = 'is not served for responses; leave it out, and read the whole response';

/** Responses, in background or not: each is a request. */
@Injectable()
export class Responses {
  constructor(
    private readonly calls: ModelCalls,
    private readonly requests: RequestHandlers,
    private readonly collection: CollectionHandlers,
    private readonly longPolls: LongPolls,
    private readonly bodies: CallBodies,
  ) {}

  /** Answers at once in background, and else with the output. undefined: the client has disconnected. */
  async create(call: ModelCall): Promise<object | undefined> {
    const { isBackground, held } = await this.begin(call);
    if (isBackground) {
      held.release();
      return toResponse(held.row);
    }
    const ended = await this.calls.ended(held, call);
    return ended && toResponse(ended.row, { output: JSON.parse(ended.output), isBackground });
  }

  /** Reads the body and submits. It is a method of its own, because a call that waits would keep the body in memory. */
  private async begin(call: ModelCall): Promise<{ isBackground: boolean; held: HeldCall }> {
    const read = await this.bodies.read(call);
    const { stream, continues, background: isBackground } = read.asked;
    if (stream) throw notTaken('stream', notStreamed);
    if (continues !== undefined) throw notTaken(continues, notContinued);
    return { isBackground, held: await this.calls.begin(call, read) };
  }

  async find(caller: Caller | undefined, id: string, request: Request): Promise<object> {
    if (request.query['stream'] === 'true') throw notTaken('stream', notStreamed);
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
    return toResponse(row, { output: JSON.parse(await this.requests.output(row, request)) });
  }
}
