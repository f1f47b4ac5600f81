import type { AdapterParts } from '../adapter-parts.js';
import { answerRunpodError } from './runpod-error.js';
import { runpodWebhookBody } from './runpod-webhook.js';
import { RunpodModule } from './runpod.module.js';

export const runpod: AdapterParts = {
  module: RunpodModule,
  answerError: answerRunpodError,
  webhookBody: runpodWebhookBody,
  page: 'docs/runpod.md',
  otherMethod: 'not_found',
  requestFields: [],
  answerFields: [],
  submitRoutes: [
    '/runpod/v2/{endpoint}/run',
    '/runpod/v2/{endpoint}/runsync',
    '/runpod/v2/{endpoint}/retry/{request_id}',
  ],
};
