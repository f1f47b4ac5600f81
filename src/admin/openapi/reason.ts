import type { ProblemCode } from '../../errors/problem-codes.js';

/** The problems of a call that takes a reason. */
export const reasonProblems: readonly ProblemCode[] = [
  'bad_request',
  'invalid_json',
  'invalid_query',
  'body_too_large',
  'unsupported_encoding',
];
