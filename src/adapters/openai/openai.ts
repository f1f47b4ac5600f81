import type { AdapterParts } from '../adapter-parts.js';
import { answerOpenAiError } from './openai-error.js';
import { OpenAiModule } from './openai.module.js';
import { openAiWebhookBody } from './openai-webhook.js';

const held = [
  'chat/completions',
  'completions',
  'embeddings',
  'images/generations',
  'audio/speech',
  'audio/transcriptions',
];

export const openai: AdapterParts = {
  module: OpenAiModule,
  answerError: answerOpenAiError,
  webhookBody: openAiWebhookBody,
  page: 'docs/openai.md',
  otherMethod: 'not_found',
  submitRoutes: [...held, 'responses'].map((call) => `/openai/v1/${call}`),
};
