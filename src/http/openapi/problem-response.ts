import { DomainError, type DomainErrorOptions } from '../../errors/domain-error.js';
import { type ProblemCode, problemCodes } from '../../errors/problem-codes.js';
import type { ProblemDto } from './problem.dto.js';
import { headerReferences } from './headers.js';
import type { ResponseEntry } from './document-types.js';
import { problemMediaType, toProblem } from '../problem.js';

const timestamp = '2026-03-01T12:00:00.000Z';
const requestId = '019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b';

/** A detail, and what goes with it, for the codes whose title says too little. */
const samples: Partial<Record<ProblemCode, [detail: string, options?: DomainErrorOptions]>> = {
  invalid_query: ['logs must be 0, 1, true or false.'],
  already_completed: [
    'The request has already completed.',
    { extensions: { cancel_status: 'ALREADY_COMPLETED' } },
  ],
  invalid_input: [
    'The input does not fit the schema of demo/image/fractal.',
    { errors: [{ path: '/width', message: 'must be integer' }] },
  ],
  model_error: ['The model refused the input.', { details: { reason: 'the prompt was refused' } }],
};

const retryable = new Set<ProblemCode>(['rate_limited', 'not_completed', 'unavailable']);

/** One answer for all codes of one status, with an example each. */
export function problemResponse(codes: readonly ProblemCode[], status?: number): ResponseEntry {
  const headers = [
    ...(codes.some((code) => retryable.has(code)) ? ['Retry-After'] : []),
    ...(codes.some((code) => problemCodes[code].status === 401) ? ['WWW-Authenticate'] : []),
    ...(codes.includes('unsupported_encoding') ? ['Accept-Encoding'] : []),
  ];
  return {
    description: codes.map((code) => `\`${code}\`: ${problemCodes[code].title}.`).join('\n\n'),
    headers: headerReferences(headers),
    content: {
      [problemMediaType]: {
        schema: {
          $ref: `#/components/schemas/${codes.includes('already_completed') ? 'AlreadyCompletedProblem' : 'Problem'}`,
        },
        examples: Object.fromEntries(
          codes.map((code) => [
            code,
            { summary: problemCodes[code].title, value: exampleProblem(code, status) },
          ]),
        ),
      },
    },
  };
}

function exampleProblem(code: ProblemCode, status?: number): ProblemDto {
  const [detail, options] = samples[code] ?? [`${problemCodes[code].title}.`];
  const error = new DomainError(code, detail, {
    timestamp,
    ...(status === undefined ? {} : { status }),
    ...options,
  });
  return toProblem(error, `/v1/queue/requests/${requestId}`);
}
