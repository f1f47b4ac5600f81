import { DomainError } from '../../errors/domain-error.js';
import { parseInputBody } from '../../http/input/json-body.js';

/** What the adapter reads of a body. The model gets the body as it is. */
export interface CallBody {
  model: string;
  stream: boolean;
  /** Whether the last chunk of a stream has the usage. */
  includesUsage: boolean;
  responseFormat: unknown;
  encodingFormat: unknown;
  background: boolean;
}

export function callBodyOf(body: Buffer): CallBody {
  return callOf(parseInputBody(body).value);
}

export function callOf(input: Readonly<Record<string, unknown>>): CallBody {
  const { model, stream, stream_options: options, response_format: responseFormat, encoding_format: encodingFormat, background } = input;
  if (typeof model !== 'string' || model === '') {
    const message = 'must name a model; GET /openai/v1/models lists those that this key may use';
    throw new DomainError('invalid_input', 'The body has no model.', {
      errors: [{ path: '/model', message }],
    });
  }
  return {
    model,
    stream: stream === true || stream === 'true',
    includesUsage: (options as { include_usage?: unknown } | undefined)?.include_usage === true,
    responseFormat,
    encodingFormat,
    background: background === true,
  };
}

/** Returns the error for an option of OpenAI that this service does not have. */
export function notTaken(option: string, advice: string): DomainError {
  const errors = [{ path: `/${option}`, message: advice }];
  return new DomainError('invalid_input', 'docs/openai.md lists what is served.', { errors });
}
