import { requestIdPattern } from '../../http/other-apis.js';
import type { AdapterParts } from '../adapter-parts.js';
import { answerFalError } from './answer-error.js';
import { FalModule } from './fal.module.js';
import { falWebhookBody } from './fal-webhook.js';

export const fal: AdapterParts = {
  module: FalModule,
  answerError: answerFalError,
  webhookBody: falWebhookBody,
  page: 'docs/fal.md',
  otherMethod: 'method_not_allowed',
  requestPaths: new RegExp(
    `^/fal/.+/requests/${requestIdPattern}(?:/(?:status(?:/stream)?|cancel|response))?/?$`,
  ),
  requestFields: [
    'X-Fal-Queue-Priority',
    'X-Fal-Request-Timeout',
    'X-Fal-Request-Start-Timeout',
    'X-Fal-Runner-Hint',
    'X-Fal-No-Retry',
    'X-Fal-Retry-Config',
    'X-Fal-Store-IO',
    'X-Fal-Object-Lifecycle',
    'X-Fal-Object-Lifecycle-Preference',
    'X-Fal-Tags',
    'X-Fal-Target-Url',
  ],
  answerFields: ['X-Fal-Request-Id', 'X-Fal-Error-Type', 'X-Fal-Request-Timeout-Type'],
  submitRoutes: ['/fal/{model_id}', '/fal/run/{model_id}', '/fal/run/{model_id}/stream'],
};
