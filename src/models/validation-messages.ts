import type { ErrorObject } from 'ajv/dist/2020.js';
import type { FieldError } from '../errors/domain-error.js';
import { hint } from '../tools/closest.js';

const maxErrors = 20;
const maxNameLength = 100;
const maxPathLength = 500;
const maxListed = 20;

/** The errors of a schema's keywords, in words. A keyword that is not listed keeps the validator's message. */
const messages: Record<string, (params: Record<string, unknown>, error: ErrorObject) => string> = {
  required: ({ missingProperty }) => `"${short(missingProperty)}" is required`,
  dependentRequired: ({ missingProperty, property }) =>
    `"${short(missingProperty)}" is required where "${short(property)}" is given`,
  additionalProperties: ({ additionalProperty }, error) => unknownProperty(additionalProperty, error),
  unevaluatedProperties: ({ unevaluatedProperty }, error) => unknownProperty(unevaluatedProperty, error),
  type: ({ type }) => `must be ${[type].flat().map(withArticle).join(' or ')}`,
  enum: ({ allowedValues }) => `must be ${oneOf(allowedValues as unknown[])}`,
  const: ({ allowedValue }) => `must be ${short(JSON.stringify(allowedValue))}`,
  minimum: ({ limit }) => `must be at least ${String(limit)}`,
  maximum: ({ limit }) => `must be at most ${String(limit)}`,
  exclusiveMinimum: ({ limit }) => `must be more than ${String(limit)}`,
  exclusiveMaximum: ({ limit }) => `must be less than ${String(limit)}`,
  multipleOf: ({ multipleOf }) => `must be a multiple of ${String(multipleOf)}`,
  minLength: ({ limit }) => `must have at least ${count(limit, 'character')}`,
  maxLength: ({ limit }) => `must have at most ${count(limit, 'character')}`,
  minItems: ({ limit }) => `must have at least ${count(limit, 'element')}`,
  maxItems: ({ limit }) => `must have at most ${count(limit, 'element')}`,
  pattern: ({ pattern }) => `must match the pattern ${short(pattern)}`,
  format: ({ format }) => `must be a valid ${short(format)}`,
};

/** Returns at most 20 errors, none of them longer than a few lines, whatever the input. */
export function fieldErrors(errors: readonly ErrorObject[]): FieldError[] {
  const shown = errors.filter(({ keyword }) => keyword !== 'if').slice(0, maxErrors);
  return (shown.length > 0 ? shown : errors.slice(0, 1)).map((error) => ({
    path: pathOf(error),
    message: messages[error.keyword]?.(error.params, error) ?? error.message ?? 'does not fit the schema',
  }));
}

/** Names the missing or unknown property itself, not the object it is missing from. */
function pathOf({ instancePath, keyword, params }: ErrorObject): string {
  const { missingProperty, additionalProperty, unevaluatedProperty } = params as Record<string, unknown>;
  const name = missingProperty ?? additionalProperty ?? unevaluatedProperty;
  const ending =
    typeof name === 'string' && keyword !== 'dependentRequired' && name.length <= maxNameLength
      ? `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
      : '';
  const path = `${instancePath}${ending}`;
  return path.length <= maxPathLength ? path : path.slice(0, path.lastIndexOf('/', maxPathLength));
}

function unknownProperty(name: unknown, { parentSchema }: ErrorObject): string {
  const properties = (parentSchema?.properties ?? {}) as object;
  return `"${short(name)}" is not a property of this input${hint(String(name), Object.keys(properties))}`;
}

function oneOf(values: unknown[]): string {
  const listed = values.slice(0, maxListed).map((value) => short(JSON.stringify(value)));
  const rest = values.length > maxListed ? `, … (${values.length} in all)` : '';
  return `${values.length > 1 ? 'one of ' : ''}${listed.join(', ')}${rest}`;
}

function withArticle(type: unknown): string {
  if (type === 'null') return 'null';
  return `${/^[aeiou]/.test(String(type)) ? 'an' : 'a'} ${String(type)}`;
}

function count(limit: unknown, noun: string): string {
  return `${String(limit)} ${noun}${limit === 1 ? '' : 's'}`;
}

function short(value: unknown): string {
  const text = String(value);
  return text.length <= maxNameLength ? text : `${text.slice(0, maxNameLength)}…`;
}
