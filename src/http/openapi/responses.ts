import type { OpenAPIObject } from '@nestjs/swagger';
import { DomainError, type DomainErrorOptions } from '../../errors/domain-error.js';
import { type ProblemCode, problemCodes } from '../../errors/problem-codes.js';
import { problemMediaType, toProblem } from '../problem.js';

/* Parts of a document that @nestjs/swagger does not export by name. */
type Resolved<T> = Exclude<NonNullable<T>, { $ref: string }>;

export type PathItem = OpenAPIObject['paths'][string];
export type Operation = NonNullable<PathItem['get']>;
export type Response = Resolved<Operation['responses'][string]>;
type Headers = NonNullable<Response['headers']>;
type Header = Resolved<Headers[string]>;

function header(description: string, example: string | number): Header {
  const schema: Header['schema'] =
    typeof example === 'string' ? { type: 'string' } : { type: 'integer', minimum: 0 };
  return { description, schema, example };
}

export const exampleId = '019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b';

/** Every response header that answers refer to. */
export const headerComponents: Record<string, Header> = {
  'X-Request-Id': header(
    'The id of this exchange in the logs: the `X-Request-Id` of the call if it has 1 to 128 characters of ' +
      '`A-Za-z0-9._-`, otherwise a new id.',
    '6a1f0f0e-5b0d-4a53-9b77-6d1f6f4f2c55',
  ),
  'X-RateLimit-Limit': header('The number of requests that the tighter window admits.', 10),
  'X-RateLimit-Remaining': header('The number of requests that the tighter window still admits.', 9),
  'X-RateLimit-Reset': header(
    'Seconds until the oldest counted request leaves the tighter window and makes room for another.',
    1,
  ),
  'RateLimit-Policy': header(
    'All windows that apply, as in the IETF draft: `q` requests in `w` seconds.',
    '"second";q=10;w=1, "minute";q=100;w=60',
  ),
  RateLimit: header(
    'The remaining quota of each window: `r` requests, and `t` seconds until the oldest counted one leaves ' +
      'and makes room for another.',
    '"second";r=9;t=1, "minute";r=99;t=60',
  ),
  'Retry-After': header('Seconds to wait before the next try.', 1),
  Location: header(
    'The status URL of the new request.',
    `http://127.0.0.1:3000/v1/queue/requests/${exampleId}/status`,
  ),
  Link: header(
    'The URL of the next page of a list, as `rel="next"`; absent on the last page.',
    '<http://127.0.0.1:3000/v1/queue/requests?cursor=b3BhcXVl>; rel="next"',
  ),
  'Idempotent-Replayed': header(
    '`true` if the answer is that of an earlier submission with the same `Idempotency-Key`; otherwise absent.',
    'true',
  ),
  'Preference-Applied': header(
    'The longest wait in seconds. Present if the answer waited for the request to complete, or had no need ' +
      'to wait.',
    'wait=10',
  ),
  'WWW-Authenticate': header('The authentication scheme.', 'Key'),
  'Accept-Encoding': header(
    'The encodings that the service accepts for a body.',
    'gzip, deflate, br, identity',
  ),
};

export const rateLimitHeaders = Object.keys(headerComponents).filter((name) => name.includes('RateLimit'));

export function headerReferences(names: readonly string[]): Headers {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** An example of a detail and its options, for codes whose title is too general. */
const samples: Partial<Record<ProblemCode, [detail: string, options?: DomainErrorOptions]>> = {
  invalid_query: ['logs must be 0, 1, true or false.'],
  already_completed: [
    'The request has already completed.',
    { extensions: { cancel_status: 'ALREADY_COMPLETED' } },
  ],
  invalid_input: [
    'The input does not fit the schema of demo/image/fractal.',
    { errors: [{ path: '/width', message: 'must be an integer' }] },
  ],
  model_error: ['The model refused the input.', { details: { reason: 'the prompt was refused' } }],
};

/** Returns one answer for all codes of one status, with an example per code. */
export function problemResponse(codes: readonly ProblemCode[], status: number): Response {
  const isOnly = codes.every((code) => code === 'already_completed');
  const schema = isOnly ? 'AlreadyCompletedProblem' : 'Problem';
  const examples = codes.map((code) => {
    const { title: summary } = problemCodes[code];
    const [detail, options] = samples[code] ?? [`${summary}.`];
    const timestamp = '2026-03-01T12:00:00.000Z';
    const { extensions, ...others } = options ?? {};
    const own = isOnly ? { extensions } : {};
    const error = new DomainError(code, detail, { timestamp, status, ...others, ...own });
    return [code, { summary, value: toProblem(error, `/v1/queue/requests/${exampleId}`) }];
  });
  return {
    description: codes.map((code) => `\`${code}\`: ${problemCodes[code].title}.`).join('\n\n'),
    headers: headerReferences([
      ...(codes.some((code) => problemCodes[code].retry === 'later') ? ['Retry-After'] : []),
      ...(status === 401 ? ['WWW-Authenticate'] : []),
      ...(codes.includes('unsupported_encoding') ? ['Accept-Encoding'] : []),
    ]),
    content: {
      [problemMediaType]: {
        schema: { $ref: `#/components/schemas/${schema}` },
        examples: Object.fromEntries(examples) as Record<string, object>,
      },
    },
  };
}
