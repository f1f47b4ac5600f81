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
  submitRoutes: ['/fal/{model_id}'],
};
