import type { AdapterParts } from '../adapter-parts.js';
import { answerReplicateError } from './replicate-error.js';
import { replicateWebhookBody } from './replicate-webhook.js';
import { ReplicateModule } from './replicate.module.js';

export const replicate: AdapterParts = {
  module: ReplicateModule,
  answerError: answerReplicateError,
  webhookBody: replicateWebhookBody,
  runEvents: ['request.started', 'request.output', 'request.logs'],
  page: 'docs/replicate.md',
  otherMethod: 'not_found',
  requestFields: ['Cancel-After'],
  answerFields: [],
  submitRoutes: [
    '/replicate/v1/predictions',
    '/replicate/v1/models/{name}/predictions',
    '/replicate/v1/deployments/{name}/predictions',
  ],
};
