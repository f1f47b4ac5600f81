import type { components } from './wire.js';

type Schemas = components['schemas'];

/** What the service answers, as it answers it: the names are those of the API. */
export type QueuedRequest = Schemas['QueuedRequest'];
export type Status = Schemas['Status'];
export type CompletedStatus = Schemas['CompletedStatus'];
export type LogEntry = Schemas['LogEntry'];
export type CancelResult = Schemas['CancelResult'];
export type Page = Schemas['RequestPage'];
export type CancelCounts = Schemas['CancelCounts'];
export type Model = Schemas['Model'];
export type Key = Schemas['Key'];
export type WebhookDelivery = Schemas['WebhookDelivery'];
export type FieldError = Schemas['FieldError'];
export type ProblemCode = Schemas['Problem']['code'];
/** The request, or why there is none. */
export type BatchResult =
  | ({ status: 202 } & QueuedRequest)
  | { status: number; code: ProblemCode; detail: string; errors?: FieldError[]; request_id?: undefined };

type Wire<Name> = Record<Extract<Name, string>, string | readonly string[] | undefined>;
/** As the service knows them: one that is missing here would not compile. */
export type WireOptions = Wire<keyof Omit<Schemas['BatchEntry'], 'model_id' | 'input' | 'idempotency_key'>>;
export type WireFilter = Wire<keyof Schemas['RequestFilter']>;

export interface ClientOptions {
  /** Where the service is, such as `https://queue.example.org`. */
  url: string;
  /** The API key. Without one only what a request's id alone opens can be called. */
  key?: string | undefined;
  /** In place of the platform's own. */
  fetch?: typeof globalThis.fetch | undefined;
  /** How often a call is tried again that failed in a way that may pass; 5 if left out. */
  retries?: number | undefined;
  /** Milliseconds that one try may take, besides what the service was asked to hold it; 60,000 if left out. */
  timeout?: number | undefined;
}

export interface CallOptions {
  /** Ends the call: it rejects with `code: 'aborted'`. `AbortSignal.timeout(ms)` is a time limit. */
  signal?: AbortSignal | undefined;
}

/** `'90s'`, `'5m'`, `'1h'`; a number is milliseconds. */
export type Duration = string | number;

/** What the service is to do with a submission, besides running it. */
export interface RequestOptions {
  /** Called when the request has completed. */
  webhook?: string | undefined;
  priority?: 'high' | 'normal' | 'low' | undefined;
  /** Not started before. */
  notBefore?: Date | string | undefined;
  delay?: Duration | undefined;
  /** Not started later than that. */
  expires?: Duration | undefined;
  /** Of one run. */
  timeout?: Duration | undefined;
  /** Up to 8 of `key:value`, for lists and bulk calls. */
  tags?: readonly string[] | undefined;
  /** Two submissions with the same key are one request. Each has a key of its own if none is given. */
  idempotencyKey?: string | undefined;
}

export interface SubmitOptions extends RequestOptions, CallOptions {
  /** A JSON object; a `Blob`, a `File` or a `file(…)` in it is uploaded, and its URL stands in its place. */
  input: object;
}

export interface UploadOptions extends CallOptions {
  /** What it is called at the service; that of a `File` or a path if left out. */
  name?: string | undefined;
  /** Its media type; that of a `Blob` if left out. */
  type?: string | undefined;
}

export interface RetryOptions extends CallOptions {
  /** Two calls with the same key make one request. Each has a key of its own if none is given. */
  idempotencyKey?: string | undefined;
}

export interface FollowOptions extends CallOptions {
  /** With what was said since the status before. */
  logs?: boolean | undefined;
  /** When the signal fires, the request is cancelled on the server too. */
  cancelOnAbort?: boolean | undefined;
}

export interface OutputOptions extends CallOptions {
  /** Another attempt begins: what was given before does not count. Called before its first part. */
  onReset?: ((attempt: number) => void) | undefined;
  /** When the signal fires, the request is cancelled on the server too. */
  cancelOnAbort?: boolean | undefined;
}

export interface RunOptions extends SubmitOptions, FollowOptions {}

export interface Result<Output = unknown> {
  output: Output;
  requestId: string;
  status: CompletedStatus;
}

export interface WaitOptions extends CallOptions {
  /** Seconds that the service may hold its answer while the request has not completed; at most 60. */
  wait?: number | undefined;
}

export interface StatusOptions extends WaitOptions {
  logs?: boolean | undefined;
}

export interface Filter {
  model?: string | undefined;
  status?: Status['status'] | undefined;
  outcome?: 'succeeded' | 'failed' | 'cancelled' | 'expired' | undefined;
  /** All of them. */
  tags?: readonly string[] | undefined;
  createdAfter?: Date | string | undefined;
  createdBefore?: Date | string | undefined;
}

export interface ListOptions extends Filter, CallOptions {
  /** Of a page; at most 100. */
  limit?: number | undefined;
  cursor?: string | undefined;
}

export interface BatchItem extends RequestOptions {
  model: string;
  input: object;
}
