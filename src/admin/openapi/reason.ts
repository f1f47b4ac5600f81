import { ApiBody } from '@nestjs/swagger';
import type { ProblemCode } from '../../errors/problem-codes.js';
import { ReasonDto } from '../requests/dto.js';

/** The body of a call that takes `ReasonBodies`. */
export const ApiReason = (): MethodDecorator => ApiBody({ type: ReasonDto, required: false });

export const reasonProblems: readonly ProblemCode[] = [
  'bad_request',
  'invalid_json',
  'invalid_query',
  'body_too_large',
  'unsupported_encoding',
];
