import type { OpenAPIObject } from '@nestjs/swagger';
import { type ProblemCode, problemCodes } from '../../errors/problem-codes.js';
import type { OperationNotes } from './decorators.js';
import { headerReferences, rateLimitHeaders } from './headers.js';
import { problemResponse } from './problem-response.js';
import type { Operation, PathItem, ResponseEntry, Responses } from './document-types.js';

const methods = ['get', 'put', 'post', 'delete', 'patch'] as const satisfies readonly (keyof PathItem)[];

/**
 * A model's own 4xx, which are handed on: those that are registered and not tried again. Named one by one, because
 * generators of clients stumble over the range `4XX`.
 */
const modelStatuses = [
  400, 401, 402, 403, 404, 405, 406, 409, 410, 411, 412, 413, 414, 415, 416, 417, 421, 422, 423, 424, 426,
  428, 431, 451,
];

export function operationsOf(item: PathItem): Operation[] {
  return methods.map((method) => item[method]).filter((operation) => operation !== undefined);
}

/** Adds to every operation what all of its kind share: error answers, quota fields, the request id. */
export function completeOperations(document: OpenAPIObject): void {
  for (const operation of Object.values(document.paths).flatMap(operationsOf)) {
    completeOperation(operation, document);
  }
}

function completeOperation(operation: Operation & OperationNotes, document: OpenAPIObject): void {
  nameSchemas(operation, document);
  const { 'x-problems': own = [], 'x-rate-limit': limit, 'x-model-answers': modelAnswers } = operation;
  delete operation['x-problems'];
  delete operation['x-rate-limit'];
  delete operation['x-model-answers'];

  const common: ProblemCode[] = own.length === 0 ? [] : ['internal_error', 'unavailable'];
  const codes = new Set<ProblemCode>([
    ...own,
    ...(limit === undefined ? [] : ['rate_limited' as const]),
    ...common,
  ]);
  const groups = groupByStatus(codes);
  if (modelAnswers === true) {
    for (const status of modelStatuses) groups.set(status, [...(groups.get(status) ?? []), 'model_error']);
  }
  for (const [status, group] of groups) operation.responses[status] = problemResponse(group, status);
  if (limit !== undefined) {
    const answer = problemResponse(['rate_limited'], 429);
    operation.responses['429'] = {
      ...answer,
      description: 'In place of the 403 if `RATE_LIMIT_STATUS=429`.',
    };
  }

  const quota = limit === undefined ? [] : rateLimitHeaders;
  for (const [status, response] of Object.entries(operation.responses) as [string, ResponseEntry][]) {
    const fields = status === '500' || status === '503' ? [] : quota;
    response.headers = { ...response.headers, ...headerReferences([...fields, 'X-Request-Id']) };
  }
  operation.responses = sorted(operation.responses);
}

function nameSchemas(operation: OperationNotes, document: OpenAPIObject): void {
  const { 'x-schemas': schemas } = operation;
  if (schemas === undefined) return;
  delete operation['x-schemas'];
  const { components = {} } = document;
  components.schemas = { ...components.schemas, ...schemas };
}

function groupByStatus(codes: Iterable<ProblemCode>): Map<number, ProblemCode[]> {
  const groups = new Map<number, ProblemCode[]>();
  for (const code of codes) {
    const { status } = problemCodes[code];
    groups.set(status, [...(groups.get(status) ?? []), code]);
  }
  return groups;
}

function sorted(responses: Responses): Responses {
  return Object.fromEntries(Object.entries(responses).sort(([a], [b]) => (a < b ? -1 : 1)));
}
