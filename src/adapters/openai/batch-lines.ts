import { createHash } from 'node:crypto';
import type { Batch } from '../../batches/batch.js';
import type { LineFormat, OutputLine } from '../../batches/line-formats.js';
import { idTimeMs } from '../../database/days.js';
import { DomainError, type FieldError } from '../../errors/domain-error.js';
import { isObject } from '../../http/input/json-body.js';
import type { JsonThreads } from '../../json/json-threads.js';
import { callBodyOf, notContinued } from './call-body.js';
import { toOpenAiError } from './openai-error.js';
import { answerText, responseHead } from './wire.js';

/** The calls whose bodies a batch may have. All lines of a batch are for the same. */
export const batchEndpoints = [
  '/v1/chat/completions',
  '/v1/completions',
  '/v1/embeddings',
  '/v1/responses',
  '/v1/images/generations',
] as const;

/** What the adapter stores with a batch. */
export interface BatchTerms {
  endpoint: string;
  /** The text that the caller wrote. */
  completion_window: string;
  /** The metadata that the caller has set. */
  metadata: Readonly<Record<string, string>> | null;
  /** How long its files are kept after its end. null: as long as the batch itself. */
  output_seconds: number | null;
}

const example =
  '{"custom_id": "1", "method": "POST", "url": "/v1/chat/completions", "body": {"model": "gpt-4o-mini", "messages": []}}';

const openAiHead = /^\{"id":"batch_req_([0-9a-f-]{36})","custom_id":("(?:[^"\\]|\\.)*")/;

/** The lines of batches as OpenAI documents them. */
export const openAiLines: LineFormat = {
  terms: {
    example,
    inputName: 'body',
    namesInInput: ['model', 'stream', 'previous_response_id', 'conversation'],
  },

  read({ fields, ofInput }, { metadata }) {
    const { custom_id: customId, method, url } = fields;
    if (typeof customId !== 'string') throw wrong('"custom_id" must be a text.');
    if (method !== 'POST') throw wrong('"method" must be POST.');
    const { endpoint } = metadata as Partial<BatchTerms>;
    if (url !== endpoint) throw wrong(`"url" must be ${endpoint}, which is the endpoint of the batch.`);
    if (ofInput === undefined) throw wrong('"body" must be an object: the body of the call.');
    const { model, stream, continues } = callBodyOf(ofInput);
    if (stream) throw wrong('"stream" is not served in a batch. Leave it out.');
    if (url === '/v1/responses' && continues !== undefined) throw wrong(`"${continues}" ${notContinued}.`);
    return { customId, modelId: model };
  },

  async output(line, batch, threads) {
    const { customId, requestId, output } = line;
    const isResponse = (batch.metadata as Partial<BatchTerms>).endpoint === '/v1/responses';
    const body = isResponse ? await responseIn(line, batch, threads) : output;
    const head = JSON.stringify({ id: `batch_req_${requestId}`, custom_id: customId }).slice(0, -1);
    const response = JSON.stringify({ status_code: 200, request_id: requestId }).slice(0, -1);
    // The body is inserted as text, because its numbers could change if it were parsed.
    return `${head},"response":${response},"body":${body}},"error":null}`;
  },

  error({ customId, requestId, error: { code, message, status: ownStatus, details } }, { id }) {
    const head = { id: `batch_req_${requestId ?? unsentId(id, customId)}`, custom_id: customId };
    // The batch has ended before the line had an answer.
    if (code.startsWith('batch_'))
      return JSON.stringify({ ...head, response: null, error: { code, message } });
    const errors = isObject(details) ? (details['errors'] as FieldError[]) : undefined;
    const reported = requestId === null ? { errors } : { details };
    const { status, error } = toOpenAiError({ code, message, status: ownStatus, ...reported });
    const response = { status_code: status, request_id: requestId, body: { error } };
    return JSON.stringify({ ...head, response, error: null });
  },

  headOf(text) {
    const [, requestId, customId] = openAiHead.exec(text) ?? [];
    return requestId === undefined ? undefined : { customId: JSON.parse(customId!) as string, requestId };
  },

  /** Returns the body that `openai.webhooks.unwrap` reads. */
  webhookBody: ({ id, status, endedAtMs }) =>
    JSON.stringify({
      id: `evt_${id}`,
      object: 'event',
      created_at: Math.floor(endedAtMs! / 1_000),
      type: `batch.${status}`,
      data: { id },
    }),
};

/** Returns the response of a line. One line must not hold up its batch, so an output that no thread can read stays. */
async function responseIn(
  { requestId, output, completedAtMs }: OutputLine,
  { id, modelId }: Pick<Batch, 'id' | 'modelId'>,
  threads: JsonThreads,
): Promise<string> {
  const ended = {
    id: requestId,
    modelId,
    createdAtMs: idTimeMs(requestId),
    completedAtMs,
    ...({ state: 'COMPLETED', outcome: 'succeeded', error: null } as const),
  };
  try {
    const ask = { head: responseHead(ended) };
    return await answerText('response', ask, output, { threads, caller: `batch ${id}` });
  } catch (error) {
    if (!(error instanceof DomainError) || error.code === 'unavailable') throw error;
    return output;
  }
}

/** Returns an id for a line that did not become a request. */
const unsentId = (batchId: string, customId: string): string =>
  createHash('sha256').update(`${batchId} ${customId}`).digest('hex').slice(0, 32);

const wrong = (message: string): DomainError => new DomainError('bad_request', message);
