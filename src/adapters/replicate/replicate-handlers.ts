import type { ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { type Caller, hasScope } from '../../auth/caller.js';
import { Clock } from '../../database/clock.js';
import { DomainError } from '../../errors/domain-error.js';
import { chargesOf } from '../../http/charges.js';
import { waitSeconds } from '../../http/input/prefer.js';
import type { Page } from '../../http/input/page.js';
import type { Reply } from '../../http/reply.js';
import { WrappedInputs } from '../../json/wrapped-inputs.js';
import type { Model } from '../../models/model.js';
import { QueueService } from '../../queue/queue.service.js';
import { CollectionHandlers } from '../../requests/collection-handlers.js';
import type { ListQuery } from '../../requests/dto/list.query.js';
import type { AdapterTerms } from '../../requests/new-requests.js';
import { RequestHandlers, unlessRefused } from '../../requests/request-handlers.js';
import { WebhookSecrets } from '../../webhooks/webhook-secrets.js';
import type { KeyedCall, OpenCall } from '../adapter-call.js';
import { AbandonedCalls } from '../duties/abandoned-calls.js';
import { HeldCalls } from '../held-calls.js';
import { RequestEnds } from '../request-ends.js';
import { newRow, type PredictionRow, predictionText, root } from './prediction.js';
import { predictionOptions } from './prediction-options.js';
import { ReplicateModels } from './replicate-models.js';
import { StreamUrls } from './stream-urls.js';

/** A call that makes a prediction. */
export interface CreateCall extends KeyedCall {
  /** The name of the model in the path. undefined: the body has it as `version` or `model`. */
  name?: string;
  body: Buffer;
}

/** Inputs up to this size in bytes are shown as they came. */
const smallBytes = 16 * 1024;

/** Serves Replicate's calls by the rules of the service's own calls. Only the wire format differs. */
@Injectable()
export class ReplicateHandlers {
  constructor(
    private readonly requests: RequestHandlers,
    private readonly collection: CollectionHandlers,
    private readonly models: ReplicateModels,
    private readonly inputs: WrappedInputs,
    private readonly held: HeldCalls,
    private readonly abandoned: AbandonedCalls,
    private readonly ends: RequestEnds,
    private readonly queue: QueueService,
    private readonly streams: StreamUrls,
    private readonly secrets: WebhookSecrets,
    private readonly clock: Clock,
  ) {}

  /**
   * Answers at once, or with `Prefer: wait` when the prediction has ended or the wait is over. undefined: the client
   * has disconnected.
   */
  async create(call: CreateCall): Promise<Reply | undefined> {
    const { caller, name, body, base, request, response } = call;
    const { headers } = request;
    const { fields, input } = await this.inputs.read(body, caller.keyId);
    const model = this.models.named(caller, name ?? nameIn(fields));
    const { query: options, runWebhook, lifeMs } = predictionOptions(fields, headers, model);
    const by: AdapterTerms = { adapter: 'replicate', runWebhook };
    const seconds = waitSeconds(headers.prefer);
    // A large input is handed over to a thread, and read again.
    const written = input.length <= smallBytes ? input.toString() : undefined;
    let text: string | undefined;
    if (seconds === 0) {
      const row = await this.accepted(call, model, input, options, by);
      if (lifeMs !== undefined) await this.abandoned.plan(row, lifeMs);
      text = await this.begunText(row, base, response, written);
    } else {
      const held = await this.held.begin({
        caller,
        headers,
        base,
        response,
        options,
        ...by,
        modelName: model.id,
        body: input,
        isRepeated: true,
      });
      if (lifeMs !== undefined) await this.abandoned.plan(held.row, lifeMs);
      text = await this.held.within(held, seconds * 1_000, (row) =>
        row.state === 'COMPLETED'
          ? this.text(row, base, response, { written })
          : this.begunText(row, base, response, written),
      );
    }
    return text === undefined ? undefined : { status: 201, body: text };
  }

  async find({ caller, base, response }: OpenCall, id: string): Promise<Reply> {
    const row = await this.requests.find(caller, id, response.req);
    return { status: 200, body: await this.text(row, base, response) };
  }

  /** Newest first. The entries have no input, output or logs, which may be large. */
  async list({ caller, base }: KeyedCall, page: Page<ListQuery>): Promise<Reply> {
    const { data, next_cursor: next } = await this.collection.pageOf(caller, page, (row) =>
      predictionText(row, base),
    );
    const url = next === null ? null : `${base}${root}/predictions?cursor=${next}`;
    const links = JSON.stringify({ previous: null, next: url });
    return { status: 200, body: `${links.slice(0, -1)},"results":[${data.join()}]}` };
  }

  /** Answers with the prediction, also if it had ended before. */
  async cancel({ caller, base, response }: OpenCall, id: string): Promise<Reply> {
    const row = await this.ends.cancelled(caller, id, response);
    return { status: 200, body: await this.text(row, base, response) };
  }

  /** A key that may not submit has no webhooks. */
  async webhookSecret(caller: Caller): Promise<{ key: string }> {
    if (!hasScope(caller, 'submit'))
      throw new DomainError('forbidden', 'This API key does not have the scope "submit".');
    return { key: await this.secrets.secretOf(caller.keyId) };
  }

  private async accepted(
    { caller, request, base }: CreateCall,
    { id: modelId }: Model,
    input: Buffer,
    options: object,
    by: AdapterTerms,
  ): Promise<PredictionRow> {
    const { headers } = request;
    const { requestId: id } = await this.requests.accept(caller, modelId, input, headers, options, base, by);
    chargesOf(request)?.releaseBody();
    const row = await unlessRefused(this.requests.find(caller, id));
    return row ?? newRow({ id, modelId, createdAtMs: this.clock.now() });
  }

  /** A prediction that was accepted is not refused any more. What cannot be read now is left out. */
  private async begunText(
    row: PredictionRow,
    base: string,
    response: ServerResponse,
    written: string | undefined,
  ): Promise<string> {
    const status = row.state === 'COMPLETED' ? undefined : 'starting';
    const text = await unlessRefused(this.text(row, base, response, { written, status }));
    const stream = this.streams.urlOf(base, row.id);
    return text ?? predictionText(newRow(row), base, { input: written, stream });
  }

  /** `written`: the input, if it is known. `status`: what is shown in place of its own status. */
  private async text(
    row: PredictionRow,
    base: string,
    { req }: ServerResponse,
    { written, status }: { written?: string | undefined; status?: 'starting' | undefined } = {},
  ): Promise<string> {
    const charges = chargesOf(req);
    const [input, output, entries] = await Promise.all([
      written ?? this.queue.input(row.id, charges),
      row.outcome === 'succeeded' ? this.queue.output(row.id, charges) : null,
      row.state === 'IN_QUEUE' ? [] : this.queue.log(row.id, 0, row.lastEventId),
    ]);
    const logs = entries.map(({ message }) => `${message}\n`).join('');
    const stream = this.streams.urlOf(base, row.id);
    return predictionText(row, base, { input, output, logs, stream }, status);
  }
}

/** Returns the name of a model: its id, or an alias such as the id of a version at Replicate. */
function nameIn({ version, model }: Readonly<Record<string, unknown>>): string {
  const name = version ?? model;
  if (typeof name === 'string' && name !== '') return name;
  throw new DomainError('bad_request', 'Name the model as "version": its id, or an alias of it.');
}
