import type { Filter, RequestOptions } from './options.js';
import type { components } from './wire.js';

type Schemas = components['schemas'];

/** The answers of the service, under their API names. */
export type QueuedRequest = Schemas['QueuedRequest'];
export type Status = Schemas['Status'];
export type CompletedStatus = Schemas['CompletedStatus'];
export type LogEntry = Schemas['LogEntry'];
export type CancelAnswer = Schemas['CancelAnswer'];
export type Page = Schemas['RequestPage'];
export type CancelCounts = Schemas['CancelCounts'];
export type Model = Schemas['Model'];
export type Key = Schemas['Key'];
export type WebhookDelivery = Schemas['WebhookDelivery'];
export type FieldError = Schemas['FieldError'];
export type ProblemCode = Schemas['Problem']['code'];
/**
 * The request, or the reason why there is none. `status` 0: the entry was sent again and got no answer, so it may have
 * been accepted.
 */
export type SubmitResult =
  | ({ status: 202 } & QueuedRequest)
  | {
      status: number;
      code: ProblemCode | (string & {});
      detail: string;
      errors?: FieldError[];
      request_id?: undefined;
    };

export interface ClientOptions {
  /** The address of the service, such as `https://queue.example.org`. */
  url: string;
  /** The API key. Without a key, only calls work that a request's id alone permits. */
  key?: string | undefined;
  /** Replaces the platform's own `fetch`. */
  fetch?: typeof globalThis.fetch | undefined;
  /** How many times a call is retried after a failure that may be temporary; default 5. */
  retries?: number | undefined;
  /** Seconds that one try may take, in addition to the time for which the service holds it; default 60. */
  timeoutS?: number | undefined;
}

export interface CallOptions {
  /** Ends the call, which rejects with `code: 'aborted'`. `AbortSignal.timeout(ms)` sets a time limit. */
  signal?: AbortSignal | undefined;
}

export interface SubmitOptions extends RequestOptions, CallOptions {
  /** A JSON object. A `Blob`, a `File` or a `file(…)` in it is uploaded and replaced by its URL. */
  input: object;
}

export interface UploadOptions extends CallOptions {
  /** The file's name at the service; by default the name of the `File` or path. */
  name?: string | undefined;
  /** The media type; by default the type of the `Blob`. */
  type?: string | undefined;
}

export interface RetryOptions extends CallOptions {
  /** Two calls with the same key create one request. By default each call gets its own key. */
  idempotencyKey?: string | undefined;
}

export interface FollowOptions extends CallOptions {
  /** Includes the log lines since the previous status. */
  logs?: boolean | undefined;
  /** When the signal fires, the request is also cancelled on the server. */
  cancelOnAbort?: boolean | undefined;
}

export interface OutputOptions extends CallOptions {
  /** Called before the first part of another attempt. The parts of earlier attempts are void. */
  onReset?: ((attempt: number) => void) | undefined;
  /** When the signal fires, the request is also cancelled on the server. */
  cancelOnAbort?: boolean | undefined;
}

export interface RunOptions extends SubmitOptions, FollowOptions {}

export interface Result<Output = unknown> {
  output: Output;
  requestId: string;
  status: CompletedStatus;
}

export interface WaitOptions extends CallOptions {
  /**
   * Seconds that the service may hold its answer while the request has not completed, from 0 to 60. It answers after
   * 55 s at the latest.
   */
  waitS?: number | undefined;
}

export interface StatusOptions extends WaitOptions {
  logs?: boolean | undefined;
}

export interface ListOptions extends Filter, CallOptions {
  /** Requests per page; at most 100. */
  limit?: number | undefined;
  cursor?: string | undefined;
}

export interface SubmitItem extends RequestOptions {
  model: string;
  input: object;
}

/** A line of the input of a batch. */
export interface BatchLine {
  /** Names the line in the output and the errors. It is unique in the batch. */
  customId: string;
  /** By default the model of the batch. */
  model?: string | undefined;
  /** A JSON object. A `Blob`, a `File` or a `file(…)` in it is uploaded and replaced by its URL. */
  input: object;
}

export interface BatchOptions extends CallOptions {
  /** The model of all lines that name none. */
  model?: string | undefined;
  /** A tag of the form `key:value`, for lists. */
  tag?: string | undefined;
  /** URL that is called when the batch has ended. */
  webhook?: string | undefined;
  /** By default `low`. */
  priority?: 'high' | 'normal' | 'low' | undefined;
  /** Seconds after which the lines that have not started expire. */
  completionWindowS?: number | undefined;
  /** Two calls with the same key create one batch. By default each call gets its own key. */
  idempotencyKey?: string | undefined;
}

export type Batch = Schemas['BatchStatus'];
export type BatchStatus = Batch['status'];
/** Lines by what became of them. Their sum is the total. */
export type BatchCounts = Batch['counts'];

/** A URL that is called about all requests of the key. */
export interface WebhookEndpoint {
  id: string;
  url: string;
  events: string[];
  created_at: string;
  /** null: it is called. */
  disabled_at: string | null;
}

export interface BatchListOptions extends CallOptions {
  status?: BatchStatus | undefined;
  tag?: string | undefined;
  /** Batches per page; at most 100. */
  limit?: number | undefined;
}

export interface BatchWaitOptions extends CallOptions {
  /** Called with the first counts, and whenever they have changed. */
  onCounts?: ((counts: BatchCounts) => void) | undefined;
}

/** A line that succeeded. */
export interface BatchOutput<Output = unknown> {
  custom_id: string;
  request_id: string;
  output: Output;
}

/** A line that did not succeed. */
export interface BatchError {
  custom_id: string;
  /** null: the line was never submitted. */
  request_id: string | null;
  error: { code: string; message: string; model_status?: number; model_body?: unknown };
}

/** An added endpoint, with the secret for `verifyWebhook`. */
export interface MadeWebhookEndpoint extends WebhookEndpoint {
  secret: string;
}

export interface EndpointOptions extends CallOptions {
  /** The types of the events that it gets; by default `request.completed`. */
  events?: readonly string[] | undefined;
}

/** What changes of an endpoint. */
export interface EndpointChanges {
  url?: string | undefined;
  events?: readonly string[] | undefined;
  /** true: it gets no new deliveries. */
  disabled?: boolean | undefined;
}
