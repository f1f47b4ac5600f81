export { Client, createClient } from './client.js';
export type * from './collection.js';
export { type ErrorCode, NowServingError } from './errors.js';
export type * from './types.js';
export { verifyWebhook, type WebhookEvent, type WebhookHeaders } from './webhooks.js';
