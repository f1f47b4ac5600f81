import { DomainError } from '../errors/domain-error.js';
import type { LineFormat } from './line-formats.js';

/** The name of the format of the service's own API. */
export const ownFormat = 'own';

const example = '{"custom_id": "1", "model_id": "demo/text/echo", "input": {"prompt": "a cat"}}';
const ownHead = /^\{"custom_id":("(?:[^"\\]|\\.)*"),"request_id":"([0-9a-f-]{36})"/;

/** The lines of the service's own API. */
export const ownLines: LineFormat = {
  terms: { example, inputName: 'input', namesInInput: [] },

  read({ fields, ofInput }) {
    const { custom_id: customId, model_id: modelId, ...unknown } = fields;
    if (Object.keys(unknown).length > 0)
      throw new DomainError(
        'bad_request',
        `A line has only the members custom_id, model_id, input: ${example}.`,
      );
    if (typeof customId !== 'string')
      throw new DomainError('bad_request', 'A line needs a "custom_id", a text.');
    if (modelId !== undefined && typeof modelId !== 'string')
      throw new DomainError('bad_request', 'The "model_id" of a line must be a text.');
    if (ofInput === undefined)
      throw new DomainError('bad_request', 'A line needs an "input", a JSON object.');
    return { customId, modelId };
  },

  output({ customId, requestId, output }) {
    const head = JSON.stringify({ custom_id: customId, request_id: requestId });
    return `${head.slice(0, -1)},"output":${output}}`;
  },

  error({ customId, requestId, error: { code, message, modelStatus, details } }) {
    return JSON.stringify({
      custom_id: customId,
      request_id: requestId,
      error: { code, message, model_status: modelStatus, model_body: details },
    });
  },

  headOf(text) {
    const [, customId, requestId] = ownHead.exec(text) ?? [];
    return requestId === undefined ? undefined : { customId: JSON.parse(customId!) as string, requestId };
  },
};
