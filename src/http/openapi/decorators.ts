import { applyDecorators } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import type { ProblemCode } from '../../errors/problem-codes.js';

/** What the decorators leave on an operation for `completeOperation`, which takes it away again. */
export interface OperationNotes {
  'x-problems'?: readonly ProblemCode[];
  'x-model-answers'?: boolean;
  'x-rate-limit'?: RateLimitKind;
  'x-schemas'?: Readonly<Record<string, object>>;
}

export type RateLimitKind = 'submit' | 'other';

type RouteDecorator = ReturnType<typeof applyDecorators>;

/**
 * The errors that a route can answer with. Statuses, descriptions and examples come from the table of codes.
 * `internal_error` and `unavailable` come by themselves with any. Once a route: a second use replaces nothing.
 */
export function ApiProblems(...codes: ProblemCode[]): RouteDecorator {
  return applyDecorators(ApiExtension('x-problems', codes));
}

/** The route hands on a model's own 4xx as `model_error`. */
export function ApiModelAnswers(): RouteDecorator {
  return applyDecorators(ApiExtension('x-model-answers', true));
}

/** The route counts against a rate limit: adds the quota fields to every answer, and `rate_limited`. */
export function ApiLimited(kind: RateLimitKind = 'other'): RouteDecorator {
  return applyDecorators(ApiExtension('x-rate-limit', kind));
}

/** Gives schemas that are no class, such as unions, a name under `#/components/schemas`. */
export function ApiSchemas(schemas: Readonly<Record<string, object>>): RouteDecorator {
  return applyDecorators(ApiExtension('x-schemas', schemas));
}
