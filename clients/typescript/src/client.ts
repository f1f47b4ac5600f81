import { Batches } from './batches.js';
import { isRefusal, NowServingError, succeeded } from './errors.js';
import { type LocalFile, Uploads } from './files.js';
import { follow, holdSeconds, polled } from './follow.js';
import { growing } from './output.js';
import { type Filter, filterOnWire, idempotencyHeader, optionsOnWire, randomKey } from './options.js';
import { submitAll } from './submit-many.js';
import { type Call, Transport } from './transport.js';
import type {
  CallOptions,
  CancelAnswer,
  CancelCounts,
  ClientOptions,
  CompletedStatus,
  FollowOptions,
  Key,
  ListOptions,
  LogEntry,
  Model,
  OutputOptions,
  Page,
  QueuedRequest,
  Result,
  RetryOptions,
  RunOptions,
  Status,
  StatusOptions,
  SubmitItem,
  SubmitOptions,
  SubmitResult,
  UploadOptions,
  WaitOptions,
  WebhookDelivery,
} from './types.js';
import { WebhookEndpoints } from './webhook-endpoints.js';

/** Time limit, in milliseconds, for cancelling the request of an aborted call. */
const cancelMs = 10_000;

export function createClient(options: ClientOptions): Client {
  return new Client(options);
}

/** All methods reject with a `NowServingError`. */
export class Client {
  /** Batches of many lines, which the service reads from one file. */
  readonly batches: Batches;
  /** URLs that are called about all requests of the key. */
  readonly webhookEndpoints: WebhookEndpoints;
  private readonly transport: Transport;
  private readonly uploads: Uploads;

  constructor(options: ClientOptions) {
    this.transport = new Transport(options);
    this.uploads = new Uploads(this.transport);
    this.batches = new Batches(this.transport, this.uploads);
    this.webhookEndpoints = new WebhookEndpoints(this.transport);
  }

  /** Submits a request to the queue of a model. When the promise resolves, the request is on the service's disk. */
  async submit(model: string, options: SubmitOptions): Promise<QueuedRequest> {
    return this.send(await this.submission(model, options));
  }

  /** Submits a request, waits until it completes and returns its output. Rejects if there is no output. */
  async run<Output = unknown>(model: string, options: RunOptions): Promise<Result<Output>> {
    const { logs, signal, cancelOnAbort } = options;
    // A call that may have to cancel the request needs its id at once; a held answer would bring the id late.
    const hold = logs === true || cancelOnAbort === true ? 0 : holdSeconds;
    const call = { ...(await this.submission(model, options)), hold };
    type Answer = QueuedRequest | (CompletedStatus & { response?: Output });
    const answer = await this.submitted<Answer>(call, cancelOnAbort);
    // An output may be deleted before the answer is written; then the reason is that of a call for it.
    const isWhole = 'status' in answer && (!answer.success || 'response' in answer);
    if (!isWhole) return this.result(answer.request_id, { logs, signal, cancelOnAbort });
    const { response, ...status } = answer;
    return { output: response as Output, requestId: status.request_id, status: succeeded(status) };
  }

  /**
   * Submits a request and yields its status on every change until it completes. With `logs`, each status has the new
   * lines.
   */
  async *subscribe(model: string, options: RunOptions): AsyncGenerator<Status, void, void> {
    const { logs, signal, cancelOnAbort } = options;
    const call = await this.submission(model, options);
    const { request_id } = await this.submitted<QueuedRequest>(call, cancelOnAbort);
    yield* this.follow(request_id, { logs, signal, cancelOnAbort });
  }

  /** Like `subscribe`, for a request that was submitted before. */
  async *follow(requestId: string, options: FollowOptions = {}): AsyncGenerator<Status, void, void> {
    try {
      yield* follow(this.transport, { ...options, requestId });
    } finally {
      await this.cancelIfAborted(requestId, options);
    }
  }

  /** Waits until a request completes and returns its output. Rejects if there is no output. */
  async result<Output = unknown>(requestId: string, options: FollowOptions = {}): Promise<Result<Output>> {
    const entries: LogEntry[] = [];
    let last: Status | undefined;
    try {
      for await (const status of polled(this.transport, { ...options, requestId }, { hold: holdSeconds })) {
        entries.push(...(status.logs ?? []));
        last = status;
      }
    } finally {
      await this.cancelIfAborted(requestId, options);
    }
    const status = succeeded(last as CompletedStatus);
    const output = await this.response<Output>(requestId, { signal: options.signal });
    return { output, requestId, status: options.logs === true ? { ...status, logs: entries } : status };
  }

  /**
   * Yields the parts of an output as the model produces them, until the request completes. Rejects if it does not
   * succeed. An output that the model returns at once is one part. When another attempt begins, `onReset` is called and
   * the parts start again from the first.
   */
  async *output<Delta = unknown>(
    requestId: string,
    options: OutputOptions = {},
  ): AsyncGenerator<Delta, void, void> {
    const result = () => this.result<Delta>(requestId, { signal: options.signal });
    try {
      yield* growing(this.transport, { ...options, requestId }, result);
    } finally {
      await this.cancelIfAborted(requestId, options);
    }
  }

  /** Returns the output of a request. Rejects with `not_completed` before the request completes. */
  response<Output = unknown>(requestId: string, { waitS, signal }: WaitOptions = {}): Promise<Output> {
    return this.about(requestId, [], { hold: waitS, signal, isValue: true });
  }

  /** Returns the input of a request, as it was submitted. */
  input<Input = unknown>(requestId: string, { signal }: CallOptions = {}): Promise<Input> {
    return this.about(requestId, ['input'], { signal, isValue: true });
  }

  status(requestId: string, { logs, waitS, signal }: StatusOptions = {}): Promise<Status> {
    return this.about(requestId, ['status'], {
      query: { logs: logs === true ? 1 : undefined },
      hold: waitS,
      signal,
    });
  }

  /**
   * Returns the statuses of up to 1,000 requests, in the order of the ids. null: the request is unknown, deleted, or of
   * another key.
   */
  async statuses(requestIds: readonly string[], { signal }: CallOptions = {}): Promise<(Status | null)[]> {
    const body = { request_ids: requestIds };
    const call: Call = { method: 'POST', path: ['queue', 'requests', 'status'], body, signal };
    return (await this.send<{ results: (Status | null)[] }>(call)).results;
  }

  /** `CANCELLED`: the request will never start. `CANCELLATION_REQUESTED`: it runs and was asked to stop. */
  cancel(requestId: string, { signal }: CallOptions = {}): Promise<CancelAnswer> {
    return this.about(requestId, ['cancel'], { method: 'PUT', signal });
  }

  /** Cancels the requests with these ids, or all that match a filter; at most 10,000 per call. */
  async cancelMany(
    which: { requestIds: readonly string[] } | { filter: Filter },
    { signal }: CallOptions = {},
  ): Promise<CancelCounts> {
    const body =
      'filter' in which ? { filter: filterOnWire(which.filter) } : { request_ids: which.requestIds };
    return this.send({ method: 'POST', path: ['queue', 'requests', 'cancel'], body, signal });
  }

  /** Yields the requests of the key, newest first. Fetches the next page when it is needed. */
  async *list(options: ListOptions = {}): AsyncGenerator<Status, void, void> {
    for (let cursor = options.cursor, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
      const page: Page = await this.page({ ...options, cursor });
      yield* page.data;
      cursor = page.next_cursor ?? undefined;
    }
  }

  /** Returns one page of `list`; `next_cursor` is the cursor of the next page. */
  async page({ limit, cursor, signal, ...filter }: ListOptions = {}): Promise<Page> {
    // A cursor contains its filters.
    const query = { ...(cursor === undefined && filterOnWire(filter)), limit, cursor };
    return this.send({ path: ['queue', 'requests'], query, signal });
  }

  /**
   * Submits up to 1,000 requests at once. A refused submission does not affect the others. One that a limit or an
   * overload refused is sent again, as `submit` would.
   */
  async submitMany(items: readonly SubmitItem[], { signal }: CallOptions = {}): Promise<SubmitResult[]> {
    const inputs = await Promise.all(items.map(({ input }) => this.uploads.in(input, signal)));
    const requests = items.map(({ model, input: _input, idempotencyKey = randomKey(), ...options }, i) => ({
      model_id: model,
      input: inputs[i],
      idempotency_key: idempotencyKey,
      ...optionsOnWire(options),
    }));
    return submitAll(this.transport, requests, signal);
  }

  /** Submits a new request with the input and the options of a completed one. */
  retry(requestId: string, { idempotencyKey, signal }: RetryOptions = {}): Promise<QueuedRequest> {
    const headers = idempotencyHeader(idempotencyKey);
    return this.about(requestId, ['retry'], { method: 'POST', headers, signal });
  }

  /** Deletes the input, output and logs of a completed request. */
  async delete(requestId: string, { signal }: CallOptions = {}): Promise<void> {
    await this.about(requestId, [], { method: 'DELETE', signal }).catch((error: NowServingError) => {
      if (error.code !== 'gone') throw error; // deleted before
    });
  }

  /** Uploads a file before its request is submitted and returns its URL for the input. */
  upload(content: Blob | LocalFile, options: UploadOptions = {}): Promise<string> {
    return this.uploads.upload(content, options);
  }

  /** Returns the models that the key may call. */
  async models({ signal }: CallOptions = {}): Promise<Model[]> {
    return (await this.send<{ data: Model[] }>({ path: ['models'], signal })).data;
  }

  model(id: string, { signal }: CallOptions = {}): Promise<Model> {
    return this.send({ path: ['models', ...id.split('/')], signal });
  }

  /** Returns the key's permissions and what is left of its limits. */
  key({ signal }: CallOptions = {}): Promise<Key> {
    return this.send({ path: ['key'], signal });
  }

  /** Returns the deliveries of the request's webhook. */
  async deliveries(requestId: string, { signal }: CallOptions = {}): Promise<WebhookDelivery[]> {
    return (await this.about<{ data: WebhookDelivery[] }>(requestId, ['deliveries'], { signal })).data;
  }

  /** Sends a webhook delivery again. */
  redeliver(requestId: string, deliveryId: string, { signal }: CallOptions = {}): Promise<WebhookDelivery> {
    return this.about(requestId, ['deliveries', deliveryId, 'redeliver'], { method: 'POST', signal });
  }

  private async submission(
    model: string,
    { input, idempotencyKey, signal, ...options }: SubmitOptions,
  ): Promise<Call> {
    return {
      method: 'POST',
      path: ['queue', ...model.split('/')],
      query: optionsOnWire(options),
      body: await this.uploads.in(input, signal),
      headers: idempotencyHeader(idempotencyKey),
      signal,
    };
  }

  /** Submits. If the signal fires first, `cancelOnAbort` also cancels the request that a try may have made. */
  private async submitted<T>(call: Call, cancelOnAbort: boolean | undefined): Promise<T> {
    const { signal } = call;
    if (cancelOnAbort !== true || signal === undefined || signal.aborted) return this.send(call);
    let mayExist = false;
    const onFailedTry = (error: unknown): void => {
      mayExist ||= !isRefusal(error);
    };
    try {
      return await this.send({ ...call, onFailedTry });
    } catch (error) {
      if (signal.aborted && mayExist) await this.cancelUnanswered(call).catch(() => undefined);
      throw error;
    }
  }

  /** A repeated submission returns the id of the same request. */
  private async cancelUnanswered(call: Call): Promise<void> {
    const signal = AbortSignal.timeout(cancelMs);
    const { request_id } = await this.send<QueuedRequest>({ ...call, hold: 0, signal });
    await this.cancel(request_id, { signal });
  }

  private async send<T>(call: Call): Promise<T> {
    return (await this.transport.send<T>(call)).body;
  }

  private about<T>(requestId: string, route: string[], call: Omit<Call, 'path'>): Promise<T> {
    return this.send({ ...call, path: ['queue', 'requests', requestId, ...route], requestId });
  }

  private async cancelIfAborted(requestId: string, { signal, cancelOnAbort }: OutputOptions): Promise<void> {
    if (cancelOnAbort !== true || signal?.aborted !== true) return;
    // The request may have completed meanwhile. The caller gets the error of the aborted call either way.
    await this.cancel(requestId, { signal: AbortSignal.timeout(cancelMs) }).catch(() => undefined);
  }
}
