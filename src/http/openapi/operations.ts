import { applyDecorators } from '@nestjs/common';
import { ApiExtension, ApiOperation, ApiSecurity, type OpenAPIObject } from '@nestjs/swagger';
import { type ProblemCode, problemCodes } from '../../errors/problem-codes.js';
import {
  headerReferences,
  type Operation,
  type PathItem,
  problemResponse,
  rateLimitHeaders,
  type Response,
} from './responses.js';

/** Notes that the decorators leave on an operation. `completeOperations` removes them. */
interface OperationNotes {
  'x-problems'?: readonly ProblemCode[];
  'x-limited'?: true;
  /** The route reads a JSON body. With `options` it refuses unknown options too. */
  'x-body'?: 'json' | 'json and options';
  /** The forms of the body of a request, by their media types. */
  'x-content'?: Readonly<Record<string, object>>;
  /** Like `x-limited`, but no limit counts the route. */
  'x-keyed'?: true;
  /** The route passes on a model's own 4xx as `model_error`. */
  'x-model-answers'?: true;
  /** The route belongs to the API of another service, which documents its bodies and its answers. */
  'x-other-api'?: { name: string; page: string };
  /** The webhooks that the service sends, by the type of their event. `schema`: the path of the schema of the body. */
  'x-webhooks'?: Readonly<Record<string, { summary: string; description: string; schema: string }>>;
  /** Schemas that are not classes, such as unions, by their names under `#/components/schemas`. */
  'x-schemas'?: Readonly<Record<string, object>>;
}

/** A call of the API: its title, what it does, and decorators of its answers. */
export const ApiCall = (
  summary: string,
  description: string,
  ...decorators: MethodDecorator[]
): MethodDecorator => applyDecorators(ApiOperation({ summary, description }), ...decorators);

/**
 * The errors that a route can answer with, once per route. Those of its key, of its body, `internal_error` and
 * `unavailable` are added.
 */
export function ApiProblems(...codes: ProblemCode[]): MethodDecorator {
  return ApiExtension('x-problems', codes);
}

/** Documents what the reading of a JSON body adds. */
export const ApiJsonBody = (body: NonNullable<OperationNotes['x-body']>): MethodDecorator =>
  ApiExtension('x-body', body);

/** The forms that the body of a request may have, by their media types. `ApiBody` knows only JSON. */
export const ApiBodyForms = (content: NonNullable<OperationNotes['x-content']>): MethodDecorator =>
  ApiExtension('x-content', content);

/** Documents what the gate adds: the ways to send a key, the quota fields of every answer, its own problems. */
export function ApiLimited({
  needsKey,
  isCounted = true,
}: {
  needsKey: boolean;
  isCounted?: boolean;
}): MethodDecorator {
  const keyless = needsKey ? [] : [ApiSecurity({})];
  const keys = ['key', 'bearer'].map((name) => ApiSecurity(name));
  return applyDecorators(...keyless, ...keys, ApiExtension(isCounted ? 'x-limited' : 'x-keyed', true));
}

const bodyProblems: ProblemCode[] = [
  'bad_request',
  'invalid_json',
  'invalid_input',
  'body_too_large',
  'too_large',
  'too_slow',
  'unsupported_encoding',
];
const keyedProblems: ProblemCode[] = ['missing_key', 'invalid_key', 'forbidden'];
const limitedProblems: ProblemCode[] = [...keyedProblems, 'rate_limited'];

/** The registered 4xx that are not retried. They are listed one by one, because client generators fail on `4XX`. */
const modelStatuses = [
  400, 401, 402, 403, 404, 405, 406, 409, 410, 411, 412, 413, 414, 415, 416, 417, 418, 421, 422, 423, 424,
  426, 428, 431, 451,
];

export function operationsOf({ paths }: Pick<OpenAPIObject, 'paths'>): Operation[] {
  const methods = ['get', 'put', 'post', 'delete', 'patch'] as const satisfies readonly (keyof PathItem)[];
  return Object.values(paths).flatMap((item) => methods.flatMap((method) => item[method] ?? []));
}

/** Adds to every operation what all of its kind share: error answers, quota fields, the request id. */
export function completeOperations(document: OpenAPIObject): void {
  for (const operation of operationsOf(document)) completeOperation(operation, document);
}

/** The errors of another API have its own form. */
function completeOther(
  operation: Operation & OperationNotes,
  { name, page }: NonNullable<OperationNotes['x-other-api']>,
  document: OpenAPIObject,
): void {
  const tags = (document.tags ??= []);
  if (!tags.some((tag) => tag.name === name))
    tags.push({ name, description: `The API of ${name}, for its clients: ${page} lists what is served.` });
  const description = `An error in the form of ${name}.`;
  const content = { 'application/json': { schema: { type: 'object', additionalProperties: true } } };
  operation.responses['default'] = { description, content };
  for (const response of Object.values(operation.responses) as Response[]) {
    response.description ||= `What ${name} answers.`;
    response.headers = { ...response.headers, ...headerReferences(['X-Request-Id']) };
  }
}

function addWebhooks(
  document: OpenAPIObject & { webhooks?: Record<string, PathItem> },
  webhooks: NonNullable<OperationNotes['x-webhooks']>,
): void {
  for (const [type, { summary, description, schema }] of Object.entries(webhooks)) {
    const content = { 'application/json': { schema: { $ref: schema } } };
    const responses = {
      '200': {
        description:
          'The receiver has taken it. Any 2xx counts. A 410 says that it wants no more, and disables an endpoint.',
      },
    };
    const operationId = `receive${type.replaceAll(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase())}`;
    const post = {
      operationId,
      summary,
      description,
      security: [],
      requestBody: { required: true, content },
      responses,
    };
    document.webhooks = { ...document.webhooks, [type]: { post } };
  }
}

function completeOperation(operation: Operation & OperationNotes, document: OpenAPIObject): void {
  const { components = {} } = document;
  const {
    'x-body': body,
    'x-content': content,
    'x-limited': limited,
    'x-model-answers': modelAnswers,
    'x-other-api': other,
  } = operation;
  let { 'x-problems': own = [] } = operation;
  if (body !== undefined) own = [...own, ...bodyProblems];
  if (body === 'json and options') own = [...own, 'invalid_query'];
  const ofKeys = limited ? limitedProblems : operation['x-keyed'] ? keyedProblems : [];
  components.schemas = { ...components.schemas, ...operation['x-schemas'] };
  addWebhooks(document, operation['x-webhooks'] ?? {});
  if (content !== undefined) operation.requestBody = { required: true, content };
  for (const note of [
    'x-problems',
    'x-body',
    'x-content',
    'x-limited',
    'x-keyed',
    'x-model-answers',
    'x-schemas',
    'x-webhooks',
    'x-other-api',
  ] as const)
    delete operation[note];
  if (other !== undefined) return completeOther(operation, other, document);

  const groups = new Map<number, ProblemCode[]>();
  const add = (code: ProblemCode, status: number): unknown =>
    groups.set(status, [...(groups.get(status) ?? []), code]);
  const common: ProblemCode[] = own.length === 0 ? [] : ['internal_error', 'unavailable'];
  const codes = new Set([...own, ...ofKeys, ...common]);
  for (const code of codes) add(code, problemCodes[code].status);
  if (modelAnswers) for (const status of modelStatuses) add('model_error', status);

  const { responses } = operation;
  for (const [status, group] of groups) responses[status] = problemResponse(group, status);
  if (limited) {
    const others = groups.get(429) ?? [];
    const named = others.map((code) => `\`${code}\`. `).join('');
    const description = `${named}\`rate_limited\` in place of the 403 if \`RATE_LIMIT_STATUS=429\`.`;
    responses['429'] = { ...problemResponse([...others, 'rate_limited'], 429), description };
  }
  for (const [status, response] of Object.entries(responses) as [string, Response][]) {
    const quota = limited && status !== '500' && status !== '503' ? rateLimitHeaders : [];
    response.headers = { ...response.headers, ...headerReferences([...quota, 'X-Request-Id']) };
  }
}
