import { Injectable } from '@nestjs/common';
import type { Actor } from '../../audit/actor.js';
import type { Caller } from '../../auth/caller.js';
import { chargesOf } from '../../http/charges.js';
import { sendReply } from '../../http/reply.js';
import { JsonThreads } from '../../json/json-threads.js';
import { responseOf } from '../../json/responses.js';
import { CollectionHandlers } from '../../requests/collection-handlers.js';
import { gone, RequestHandlers } from '../../requests/request-handlers.js';
import { QueueService } from '../../queue/queue.service.js';
import type { StatusRow } from '../../queue/reads/status-row.js';
import type { KeyedCall, OpenCall } from '../adapter-call.js';
import type { HeldCall } from '../held-calls.js';
import { RequestEnds } from '../request-ends.js';
import { CallBodies, notContinued, notTaken } from './call-body.js';
import type { ModelCall } from './model-call.js';
import { ModelCalls } from './model-calls.js';
import { wrongAt } from './openai-error.js';
import { ResponseChunks, type ResponseStream } from './response-chunks.js';
import { answerText, responseHead } from './wire.js';

/** A cancel waits this long for the end of the run, so that its answer says whether it has ended. */
const cancelWaitMs = 5_000;

const startsAgain =
  'is not served once an attempt has failed; leave it out, and read the stream from its beginning';

/** Responses, in background or not: each is a request. */
@Injectable()
export class Responses {
  constructor(
    private readonly calls: ModelCalls,
    private readonly requests: RequestHandlers,
    private readonly collection: CollectionHandlers,
    private readonly ends: RequestEnds,
    private readonly queue: QueueService,
    private readonly bodies: CallBodies,
    private readonly threads: JsonThreads,
  ) {}

  /** Answers with a stream if that is asked for, at once in background, and else with the output. */
  async create(call: KeyedCall): Promise<void> {
    const { isBackground, isStreamed, held } = await this.begin(call);
    // A request in background continues when its call is closed.
    if (isBackground) held.release();
    if (isStreamed) {
      const { row } = held;
      const chunks = this.chunks(row, { isBackground, continues: isBackground });
      return this.calls.stream(call, { row, held, chunks });
    }
    if (isBackground) return this.send(call, held.row);
    const body = await this.calls.ended(held, call, (output, row) =>
      this.text(call, row, { output, isBackground }),
    );
    if (body !== undefined) sendReply(call.response, { status: 200, body });
  }

  /** Reads the body and submits. It is a method of its own, because a call that waits would keep the body in memory. */
  private async begin(
    call: ModelCall,
  ): Promise<{ isBackground: boolean; isStreamed: boolean; held: HeldCall }> {
    const read = await this.bodies.read(call);
    const { stream: isStreamed, continues, background: isBackground } = read.asked;
    if (continues !== undefined) throw notTaken(continues, notContinued);
    // The beta interface of the client makes the same calls.
    const { beta: _beta, ...options } = call.request.query;
    return { isBackground, isStreamed, held: await this.calls.begin(call, { ...read, options }) };
  }

  async find(call: OpenCall, id: string): Promise<void> {
    const { caller, request } = call;
    const row = await this.requests.find(caller, id, request);
    const isStreamed = request.query['stream'] === 'true' && request.method !== 'HEAD';
    return isStreamed ? this.follow(call, row) : this.view(call, row);
  }

  /** Streams a response from its beginning, or after the event that the client has received last. */
  private async follow(call: OpenCall, row: StatusRow): Promise<void> {
    const after = numberIn(call.request.query['starting_after']);
    // The numbers that the client has received may be those of an earlier attempt, which said something else.
    const isFirstAttempt = row.attempt === 0 || (row.attempt === 1 && row.state !== 'IN_QUEUE');
    if (after !== undefined && !isFirstAttempt) throw notTaken('starting_after', startsAgain);
    chargesOf(call.request)?.take('streams', 1);
    if (row.outcome === 'succeeded' && !(await this.queue.hasOutput(row.id))) throw gone();
    const chunks = this.chunks(row, { isBackground: true, continues: true, after });
    return this.calls.stream(call, { row, chunks });
  }

  private chunks(row: StatusRow, stream: ResponseStream): ResponseChunks {
    return new ResponseChunks(row, stream, this.threads);
  }

  async cancel(call: OpenCall, id: string): Promise<void> {
    await this.requests.cancel(call.caller, id);
    return this.view(call, await this.ends.within(call.caller, id, cancelWaitMs, call.response));
  }

  async erase(caller: Caller, actor: Actor, id: string): Promise<object> {
    await this.collection.erase(caller, actor, id);
    return { id, object: 'response', deleted: true };
  }

  private async view(call: OpenCall, row: StatusRow): Promise<void> {
    if (row.outcome !== 'succeeded') return this.send(call, row);
    return this.send(call, row, await this.requests.output(row, call.request));
  }

  private async send(call: OpenCall, row: StatusRow, output?: string): Promise<void> {
    sendReply(call.response, { status: 200, body: await this.text(call, row, { output }) });
  }

  /** `output`: that of the model, if the request has succeeded. */
  private async text(
    { caller }: OpenCall,
    row: StatusRow,
    { output, isBackground }: { output?: string | undefined; isBackground?: boolean },
  ): Promise<string> {
    const head = responseHead(row, isBackground);
    if (output === undefined) return JSON.stringify(responseOf(head));
    const readers = { threads: this.threads, caller: caller?.keyId ?? row.keyId };
    return answerText('response', { head }, output, readers);
  }
}

/** Returns the number of an event. undefined: none was given. */
function numberIn(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'string' && /^\d{1,9}$/.test(value)) return Number(value);
  throw wrongAt('starting_after', 'must be the sequence_number of an event');
}
