import { NowServingError, succeeded } from './errors.js';
import { type LocalFile, Uploads } from './files.js';
import { follow, polled } from './follow.js';
import { growing } from './output.js';
import { filterOnWire, idempotencyHeader, optionsOnWire, randomKey, submissionOf } from './options.js';
import { type Call, Transport } from './transport.js';
import type {
  BatchItem,
  BatchResult,
  CallOptions,
  CancelCounts,
  CancelResult,
  ClientOptions,
  CompletedStatus,
  Filter,
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
  SubmitOptions,
  UploadOptions,
  WaitOptions,
  WebhookDelivery,
} from './types.js';

/** Seconds that the service is asked to hold an answer; many proxies break off after 60. */
const holdSeconds = 30;
/** Milliseconds that it may take to cancel the request of an aborted call. */
const cancelMs = 10_000;

export function createClient(options: ClientOptions): Client {
  return new Client(options);
}

/** All methods reject with a `NowServingError`. */
export class Client {
  private readonly transport: Transport;
  private readonly uploads: Uploads;

  constructor(options: ClientOptions) {
    this.transport = new Transport(options);
    this.uploads = new Uploads(this.transport);
  }

  /** Puts a request in the queue of a model. When this resolves it is on the service's disk. */
  async submit(model: string, options: SubmitOptions): Promise<QueuedRequest> {
    return this.send(await this.submission(model, options));
  }

  /** Submits a request, waits for its end and gets its output; rejects if there is none. */
  async run<Output = unknown>(model: string, options: RunOptions): Promise<Result<Output>> {
    const { logs, signal, cancelOnAbort } = options;
    // What may have to be cancelled must be known by its id, which an answer that is held brings late.
    const hold = logs === true || cancelOnAbort === true ? 0 : holdSeconds;
    const call = { ...(await this.submission(model, options)), hold, finishes: cancelOnAbort };
    const answer = await this.send<QueuedRequest | (CompletedStatus & { response?: Output })>(call);
    if (!('status' in answer)) return this.result(answer.request_id, { logs, signal, cancelOnAbort });
    const { response, ...status } = answer;
    return { output: response as Output, requestId: status.request_id, status: succeeded(status) };
  }

  /** Submits a request and gives its status whenever that changes, to its end. `logs`: in each what is new. */
  async *subscribe(model: string, options: RunOptions): AsyncGenerator<Status, void, void> {
    const { logs, signal, cancelOnAbort } = options;
    const call = { ...(await this.submission(model, options)), finishes: cancelOnAbort };
    const { request_id } = await this.send<QueuedRequest>(call);
    yield* this.follow(request_id, { logs, signal, cancelOnAbort });
  }

  /** As `subscribe`, of a request that was submitted before. */
  async *follow(requestId: string, options: FollowOptions = {}): AsyncGenerator<Status, void, void> {
    try {
      yield* follow(this.transport, { ...options, requestId });
    } finally {
      await this.cancelIfAborted(requestId, options);
    }
  }

  /** Waits for the end of a request and gets its output; rejects if there is none. */
  async result<Output = unknown>(requestId: string, options: FollowOptions = {}): Promise<Result<Output>> {
    const entries: LogEntry[] = [];
    let last: Status | undefined;
    try {
      for await (const status of polled(this.transport, { ...options, requestId }, holdSeconds)) {
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
   * The parts of an output as the model gives them, to its end; rejects if that is no success. What a model gives at
   * once is one part. When another attempt begins, `onReset` is called, and the parts begin anew.
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

  /** The output of a request as it is; rejects with `not_completed` before the end. */
  response<Output = unknown>(requestId: string, { wait, signal }: WaitOptions = {}): Promise<Output> {
    return this.about(requestId, [], { hold: wait, signal });
  }

  status(requestId: string, { logs, wait, signal }: StatusOptions = {}): Promise<Status> {
    return this.about(requestId, ['status'], {
      query: { logs: logs === true ? 1 : undefined },
      hold: wait,
      signal,
    });
  }

  /** Of up to 1,000 requests, in their order; null for one that is unknown, gone, or of another key. */
  async statuses(requestIds: readonly string[], { signal }: CallOptions = {}): Promise<(Status | null)[]> {
    const body = { request_ids: requestIds };
    const call: Call = { method: 'POST', path: ['queue', 'requests', 'status'], body, signal };
    return (await this.send<{ results: (Status | null)[] }>(call)).results;
  }

  /** `CANCELLED`: it will never start. `CANCELLATION_REQUESTED`: it runs, and was asked to stop. */
  cancel(requestId: string, { signal }: CallOptions = {}): Promise<CancelResult> {
    return this.about(requestId, ['cancel'], { method: 'PUT', signal });
  }

  /** Those with these ids, or all that fit a filter; at most 10,000 a call. */
  async cancelMany(
    which: { requestIds: readonly string[] } | { filter: Filter },
    { signal }: CallOptions = {},
  ): Promise<CancelCounts> {
    const body =
      'filter' in which ? { filter: filterOnWire(which.filter) } : { request_ids: which.requestIds };
    return this.send({ method: 'POST', path: ['queue', 'requests', 'cancel'], body, signal });
  }

  /** The requests of the key, the newest first; asks for the next page when it is needed. */
  async *list(options: ListOptions = {}): AsyncGenerator<Status, void, void> {
    for (let cursor = options.cursor, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
      const page: Page = await this.page({ ...options, cursor });
      yield* page.data;
      cursor = page.next_cursor ?? undefined;
    }
  }

  /** One page of `list`; `next_cursor` is the cursor of the next. */
  async page({ limit, cursor, signal, ...filter }: ListOptions = {}): Promise<Page> {
    // A cursor holds its filters.
    const query = { ...(cursor === undefined && filterOnWire(filter)), limit, cursor };
    return this.send({ path: ['queue', 'requests'], query, signal });
  }

  /** Up to 1,000 submissions in one call; one that is refused is no harm to the others. */
  async batch(items: readonly BatchItem[], { signal }: CallOptions = {}): Promise<BatchResult[]> {
    const inputs = await Promise.all(items.map(({ input }) => this.uploads.in(input, signal)));
    const requests = items.map(({ model, input: _input, idempotencyKey = randomKey(), ...options }, i) => ({
      model_id: model,
      input: inputs[i],
      idempotency_key: idempotencyKey,
      ...optionsOnWire(options),
    }));
    const call: Call = { method: 'POST', path: ['queue', 'requests'], body: { requests }, signal };
    return (await this.send<{ results: BatchResult[] }>(call)).results;
  }

  /** A new request with the input and the options of one that has completed. */
  retry(requestId: string, { idempotencyKey, signal }: RetryOptions = {}): Promise<QueuedRequest> {
    const headers = idempotencyHeader(idempotencyKey);
    return this.about(requestId, ['retry'], { method: 'POST', headers, signal });
  }

  /** Erases what a completed request holds: input, output, logs. */
  async delete(requestId: string, { signal }: CallOptions = {}): Promise<void> {
    await this.about(requestId, [], { method: 'DELETE', signal }).catch((error: NowServingError) => {
      if (error.code !== 'gone') throw error; // by a try of which the answer was lost, or before
    });
  }

  /** Uploads a file ahead of its request, and gives the URL for the input. */
  upload(content: Blob | LocalFile, options: UploadOptions = {}): Promise<string> {
    return this.uploads.upload(content, options);
  }

  /** What the key may call. */
  async models({ signal }: CallOptions = {}): Promise<Model[]> {
    return (await this.send<{ data: Model[] }>({ path: ['models'], signal })).data;
  }

  model(id: string, { signal }: CallOptions = {}): Promise<Model> {
    return this.send({ path: ['models', ...id.split('/')], signal });
  }

  /** What the key may, and what is left of its limits. */
  key({ signal }: CallOptions = {}): Promise<Key> {
    return this.send({ path: ['key'], signal });
  }

  /** The calls of its webhook. */
  async deliveries(requestId: string, { signal }: CallOptions = {}): Promise<WebhookDelivery[]> {
    return (await this.about<{ data: WebhookDelivery[] }>(requestId, ['deliveries'], { signal })).data;
  }

  /** Calls a receiver once more. */
  redeliver(requestId: string, deliveryId: string, { signal }: CallOptions = {}): Promise<WebhookDelivery> {
    return this.about(requestId, ['deliveries', deliveryId, 'redeliver'], { method: 'POST', signal });
  }

  private async submission(model: string, options: SubmitOptions): Promise<Call> {
    const input = await this.uploads.in(options.input, options.signal);
    return submissionOf(model, { ...options, input });
  }

  private async send<T>(call: Call): Promise<T> {
    return (await this.transport.send<T>(call)).body;
  }

  private about<T>(requestId: string, route: string[], call: Omit<Call, 'path'>): Promise<T> {
    return this.send({ ...call, path: ['queue', 'requests', requestId, ...route], requestId });
  }

  private async cancelIfAborted(requestId: string, { signal, cancelOnAbort }: OutputOptions): Promise<void> {
    if (cancelOnAbort !== true || signal?.aborted !== true) return;
    // It may have completed meanwhile; and what is thrown is that the call was aborted.
    await this.cancel(requestId, { signal: AbortSignal.timeout(cancelMs) }).catch(() => undefined);
  }
}
