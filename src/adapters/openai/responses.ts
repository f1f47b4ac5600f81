import { Injectable } from '@nestjs/common';
import type { Actor } from '../../audit/actor.js';
import type { Caller } from '../../auth/caller.js';
import { sendReply } from '../../http/reply.js';
import { JsonThreads } from '../../json/json-threads.js';
import { responseOf } from '../../json/responses.js';
import { LongPolls } from '../../requests/long-polls.js';
import { CollectionHandlers } from '../../requests/collection-handlers.js';
import { RequestHandlers } from '../../requests/request-handlers.js';
import type { StatusRow } from '../../queue/reads/status-row.js';
import type { KeyedCall, OpenCall } from '../adapter-call.js';
import type { HeldCall } from '../held-calls.js';
import { CallBodies, notContinued, notTaken } from './call-body.js';
import type { ModelCall } from './model-call.js';
import { ModelCalls } from './model-calls.js';
import { responseHead, responseText } from './wire.js';

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
    private readonly threads: JsonThreads,
  ) {}

  /** Answers at once in background, and else with the output. */
  async create(call: KeyedCall): Promise<void> {
    const { isBackground, held } = await this.begin(call);
    if (isBackground) {
      held.release();
      return this.send(call, held.row);
    }
    const ended = await this.calls.ended(held, call);
    if (ended !== undefined) return this.send(call, ended.row, { ...ended, isBackground });
  }

  /** Reads the body and submits. It is a method of its own, because a call that waits would keep the body in memory. */
  private async begin(call: ModelCall): Promise<{ isBackground: boolean; held: HeldCall }> {
    const read = await this.bodies.read(call);
    const { stream, continues, background: isBackground } = read.asked;
    if (stream) throw notTaken('stream', notStreamed);
    if (continues !== undefined) throw notTaken(continues, notContinued);
    return { isBackground, held: await this.calls.begin(call, read) };
  }

  async find(call: OpenCall, id: string): Promise<void> {
    const { caller, request } = call;
    if (request.query['stream'] === 'true') throw notTaken('stream', notStreamed);
    return this.view(call, await this.requests.find(caller, id, request));
  }

  async cancel(call: OpenCall, id: string): Promise<void> {
    const { caller, request, response } = call;
    await this.requests.cancel(caller, id);
    const row = await this.requests.find(caller, id, request);
    const last =
      row.state === 'COMPLETED' ? row : await this.longPolls.hold(row, cancelWaitMs, response, row.modelId);
    return this.view(call, last ?? (await this.requests.find(caller, id, request)));
  }

  async erase(caller: Caller, actor: Actor, id: string): Promise<object> {
    await this.collection.erase(caller, actor, id);
    return { id, object: 'response', deleted: true };
  }

  private async view(call: OpenCall, row: StatusRow): Promise<void> {
    if (row.outcome !== 'succeeded') return this.send(call, row);
    return this.send(call, row, { output: await this.requests.output(row, call.request) });
  }

  /** `output`: that of the model, if the request has succeeded. */
  private async send(
    { caller, response }: OpenCall,
    row: StatusRow,
    { output, isBackground }: { output?: string; isBackground?: boolean } = {},
  ): Promise<void> {
    const head = responseHead(row, isBackground);
    const body =
      output === undefined
        ? JSON.stringify(responseOf(head))
        : await responseText(head, output, this.threads, caller?.keyId ?? row.keyId);
    sendReply(response, { status: 200, body });
  }
}
