import type { AdapterParts } from '../adapter-parts.js';
import { openAiLines } from './batch-lines.js';
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
  batchLines: openAiLines,
  page: 'docs/openai.md',
  otherMethod: 'not_found',
  // Header fields by which the client describes its machine and its retries, and asks for features.
  requestFields: [
    'OpenAI-Beta',
    'OpenAI-Organization',
    'OpenAI-Project',
    // Firefox and Safari let the client set it.
    'User-Agent',
    'X-Stainless-Arch',
    'X-Stainless-Helper-Method',
    'X-Stainless-Lang',
    'X-Stainless-OS',
    'X-Stainless-Package-Version',
    'X-Stainless-Poll-Helper',
    'X-Stainless-Custom-Poll-Interval',
    'X-Stainless-Retry-Count',
    'X-Stainless-Runtime',
    'X-Stainless-Runtime-Version',
    'X-Stainless-Timeout',
  ],
  answerFields: ['X-Should-Retry'],
  submitRoutes: [...held, 'responses'].map((call) => `/openai/v1/${call}`),
};
