import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { Caller } from '../../auth/caller.js';
import type { Reply } from '../../http/reply.js';
import { Backlog } from '../../queue/submit/backlog.js';
import { NewRequests } from '../../requests/new-requests.js';
import { RequestHandlers } from '../../requests/request-handlers.js';
import { requestIdField } from './answer-error.js';
import { falOptions } from './fal-options.js';
import { toFalQueued, toFalStatus } from './wire.js';

const noInput = Buffer.from('{}');

/** Serves fal's calls by the rules of the service's own calls. Only the wire format differs. */
@Injectable()
export class FalHandlers {
  constructor(
    private readonly requests: RequestHandlers,
    private readonly newRequests: NewRequests,
    private readonly backlog: Backlog,
  ) {}

  async submit(
    caller: Caller,
    modelId: string | undefined,
    body: Buffer,
    headers: IncomingHttpHeaders,
    query: object,
    base: string,
  ): Promise<Reply> {
    const { startMs, maxQueueLength, query: options } = falOptions(query, headers);
    const { id: model, expiresMs } = this.newRequests.modelOf(caller, modelId);
    if (maxQueueLength !== undefined) this.backlog.assertFewer(model, maxQueueLength + 1);
    const expires = startMs !== undefined &&
      startMs < (expiresMs ?? Infinity) && { expires: `${startMs / 1_000}s` };
    const input = body.length === 0 ? noInput : body;
    const { requestId: id } = await this.requests.accept(
      caller,
      model,
      input,
      headers,
      { ...options, ...expires },
      base,
      'fal',
    );
    const { snapshot } = await this.requests.look(caller, id, {});
    return aboutRequest(id, 200, toFalQueued(snapshot, base));
  }

  async status(caller: Caller | undefined, requestId: string, query: object, base: string): Promise<Reply> {
    const { snapshot, entries } = await this.requests.look(caller, requestId, query);
    const status = snapshot.row.state === 'COMPLETED' ? 200 : 202;
    return aboutRequest(requestId, status, toFalStatus(snapshot, base, entries));
  }

  /** `setField` sets a header of the answer, even if the answer is an error. */
  async result(
    caller: Caller | undefined,
    requestId: string,
    setField: SetField,
    request: IncomingMessage,
  ): Promise<Reply> {
    const row = await this.requests.find(caller, requestId, request);
    if (row.outcome === 'expired' && row.hasOwnExpiry === true)
      setField('X-Fal-Request-Timeout-Type', 'user');
    return {
      status: 200,
      fields: [requestIdField, requestId],
      body: await this.requests.output(row, request),
    };
  }

  /** A request that was already cancelled can be cancelled again, as with the service's own call. */
  async cancel(caller: Caller | undefined, requestId: string): Promise<Reply> {
    await this.requests.cancel(caller, requestId);
    return aboutRequest(requestId, 202, { status: 'CANCELLATION_REQUESTED' });
  }
}

type SetField = (name: string, value: string) => void;

function aboutRequest(id: string, status: number, body: object): Reply {
  return { status, fields: [requestIdField, id], body: JSON.stringify(body) };
}
