import { Injectable } from '@nestjs/common';
import { DomainError } from '../../errors/domain-error.js';
import { BodyReader } from '../../http/body-reader.js';
import { parseInputBody } from '../../http/input/json-body.js';
import { JsonThreads } from '../../json/json-threads.js';
import { maxInlineBytes } from '../../models/input-schemas.js';
import type { ModelCall } from './model-call.js';

/** What the adapter reads of a body. The model gets the body as it is. */
export interface CallBody {
  model: string;
  stream: boolean;
  /** True: the last chunk of a stream has the usage. */
  includesUsage: boolean;
  responseFormat: unknown;
  encodingFormat: unknown;
  background: boolean;
  /** The member that continues an earlier response, which no model here can find. undefined: there is none. */
  continues: (typeof continuing)[number] | undefined;
}

const continuing = ['previous_response_id', 'conversation'] as const;

/** A call whose body has been read. */
export interface ReadCall {
  asked: CallBody;
  /** The input of the model, as JSON. */
  body: Buffer;
  /** What repetitions of the call have in common. */
  sameIn: Buffer;
}

const names = [
  'model',
  'stream',
  'stream_options',
  'response_format',
  'encoding_format',
  'background',
  ...continuing,
];

/** Reads the bodies of calls, large ones in a thread. */
@Injectable()
export class CallBodies {
  constructor(
    private readonly bodies: BodyReader,
    private readonly json: JsonThreads,
  ) {}

  /** Checks a call again whose form has come. */
  checkAgain({ request }: ModelCall): Promise<void> {
    return this.bodies.checkAgain(request);
  }

  async read({ caller, request, response }: ModelCall): Promise<ReadCall> {
    const body = await this.bodies.read(request, response);
    if (body.length <= maxInlineBytes)
      return { asked: callBodyOf(parseInputBody(body).value), body, sameIn: body };
    const [{ members, sha256 }, bytes] = await this.json.run('members', { names }, body, {
      caller: caller.keyId,
    });
    return { asked: callBodyOf(members), body: bytes, sameIn: Buffer.from(sha256) };
  }
}

export function callBodyOf(input: Readonly<Record<string, unknown>>): CallBody {
  const {
    model,
    stream,
    stream_options: options,
    response_format: responseFormat,
    encoding_format: encodingFormat,
    background,
  } = input;
  if (typeof model !== 'string' || model === '') {
    const message = 'must name a model; GET /openai/v1/models lists those that this key may use';
    throw new DomainError('invalid_input', 'The body has no model.', {
      errors: [{ path: '/model', message }],
    });
  }
  return {
    model,
    stream: stream === true || stream === 'true',
    includesUsage: (options as { include_usage?: unknown } | null | undefined)?.include_usage === true,
    responseFormat,
    encodingFormat,
    background: background === true,
    continues: continuing.find((one) => (input[one] ?? null) !== null),
  };
}

/** What is said of a member that continues an earlier response. */
export const notContinued = 'is not served; send the whole conversation in "input"';

/** Returns the error for an option of OpenAI that this service does not have. */
export function notTaken(option: string, advice: string): DomainError {
  const errors = [{ path: `/${option}`, message: advice }];
  return new DomainError('invalid_input', 'docs/openai.md lists what is served.', { errors });
}
