export { Client, createClient } from './client.js';
export { type ErrorCode, NowServingError } from './errors.js';
export { file, type LocalFile } from './files.js';
export type {
  BatchItem,
  BatchResult,
  CallOptions,
  CancelAnswer,
  CancelCounts,
  ClientOptions,
  CompletedStatus,
  Duration,
  FieldError,
  Filter,
  FollowOptions,
  Key,
  ListOptions,
  LogEntry,
  Model,
  OutputOptions,
  Page,
  ProblemCode,
  QueuedRequest,
  RequestOptions,
  Result,
  RunOptions,
  Status,
  StatusOptions,
  SubmitOptions,
  UploadOptions,
  WaitOptions,
  WebhookDelivery,
} from './types.js';
export { verifyWebhook, type WebhookEvent, type WebhookHeaders } from './webhooks.js';
