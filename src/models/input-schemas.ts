import {
  _,
  Ajv2020,
  type ErrorObject,
  type KeywordCxt,
  MissingRefError,
  type ValidateFunction,
} from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { FieldError } from '../errors/domain-error.js';
import { fieldErrors } from './validation-messages.js';

/** What is wrong with a schema, and where: at a JSON Pointer, or where a word stands. */
export class SchemaFault extends Error {
  constructor(
    message: string,
    readonly pointer: string,
    readonly word?: string,
  ) {
    super(message);
  }
}

const maxValues = 2_000;
const draft = 'https://json-schema.org/draft/2020-12/schema';

/** Compiles the input schemas of one models file. Nothing is ever fetched: only references within a schema work. */
export class InputSchemas {
  private readonly quick = createAjv(false);
  private readonly thorough = createAjv(true);

  compile(schema: Record<string, unknown>): (input: unknown) => FieldError[] {
    if (schema.$schema !== undefined && schema.$schema !== draft) {
      throw new SchemaFault(`expected "$schema" to be ${draft}, or left out`, '/$schema');
    }
    if (schema.$async !== undefined) throw new SchemaFault('"$async" is not supported', '/$async');
    if (this.quick.validateSchema(schema) !== true) throw schemaFault(this.quick.errors?.[0]);
    try {
      const quick = compileAlone(this.quick, schema);
      const thorough = compileAlone(this.thorough, schema);
      return (input) => validate(input, quick, thorough);
    } catch (error) {
      throw compileFault(error as Error);
    }
  }
}

function createAjv(allErrors: boolean): Ajv2020 {
  const ajv = new Ajv2020({
    allErrors,
    strict: true,
    strictRequired: false,
    strictTypes: false,
    strictTuples: false,
    // `{"required": ["constructor"]}` must not be met by what every object inherits.
    ownProperties: true,
    // Hands the schema to the messages, for their hints.
    verbose: true,
    logger: false,
  });
  formats.default(ajv);
  useQuickStringLengths(ajv);
  return ajv;
}

/** Takes the schema out again, so that two models may use one `$id` and none can refer to another's. */
function compileAlone(ajv: Ajv2020, schema: Record<string, unknown>): ValidateFunction {
  try {
    return ajv.compile(schema);
  } finally {
    ajv.removeSchema(schema);
  }
}

function schemaFault(error: ErrorObject | undefined): SchemaFault {
  if (error === undefined) return new SchemaFault('is not a JSON Schema', '');
  const [{ path, message }] = fieldErrors([error]) as [FieldError];
  return new SchemaFault(`${path || 'the schema'} ${message}`, error.instancePath);
}

function compileFault(error: Error): SchemaFault {
  if (error instanceof MissingRefError) {
    const [, reference = ''] = /can't resolve reference (\S+)/.exec(error.message) ?? [];
    return new SchemaFault(
      `"${reference}" is nowhere in the schema; only references within it, such as "#/$defs/size", work`,
      '',
      reference,
    );
  }
  const [, pointer] = /at path "#([^"]*)"/.exec(error.message) ?? [];
  if (pointer !== undefined) return new SchemaFault(error.message, decodeURIComponent(pointer));
  const [, quoted, pattern] = /"([^"]*)"|regular expression: \/(.*)\/[a-z]*:/.exec(error.message) ?? [];
  return new SchemaFault(error.message, '', quoted ?? pattern);
}

/**
 * The quick form stops at the first error. The thorough one names all, but its list grows with the input
 * (a body of five million wrong elements would take a gigabyte), so only small inputs see it.
 */
function validate(input: unknown, quick: ValidateFunction, thorough: ValidateFunction): FieldError[] {
  try {
    if (quick(input)) return [];
    const errors: readonly ErrorObject[] = quick.errors ?? [];
    if (!isSmall(input)) return fieldErrors(errors);
    thorough(input);
    return fieldErrors(thorough.errors ?? errors);
  } catch (error) {
    if (error instanceof RangeError) return [{ path: '', message: 'is nested too deeply' }];
    throw error;
  } finally {
    // The functions keep their last errors, and with them the input.
    quick.errors = thorough.errors = null;
  }
}

/** Whether a JSON value has so few values within it that a complaint about each of them does no harm. */
function isSmall(input: unknown): boolean {
  const open: unknown[] = [input];
  for (let seen = 0; open.length > 0; seen += 1) {
    if (seen + open.length > maxValues) return false;
    const value = open.pop();
    if (typeof value !== 'object' || value === null) continue;
    const children: unknown[] = Array.isArray(value) ? value : Object.values(value);
    if (children.length > maxValues) return false;
    open.push(...children);
  }
  return true;
}

/**
 * JSON Schema counts characters (code points), ajv by walking every string, which took a quarter of a long prompt's
 * submission. A text has at most as many code points as code units, and at least half as many: mostly that decides.
 */
function useQuickStringLengths(ajv: Ajv2020): void {
  replace(ajv, 'maxLength', (text, limit) => text.length > limit && codePoints(text) > limit);
  replace(ajv, 'minLength', (text, limit) => text.length < 2 * limit && codePoints(text) < limit);
}

function replace(ajv: Ajv2020, keyword: string, isWrong: (text: string, limit: number) => boolean): void {
  ajv.removeKeyword(keyword).addKeyword({
    keyword,
    type: 'string',
    schemaType: 'number',
    error: { message: `must satisfy ${keyword}`, params: ({ schemaCode }) => _`{limit: ${schemaCode}}` },
    code(context: KeywordCxt) {
      const check = context.gen.scopeValue('func', { ref: isWrong });
      context.fail(_`${check}(${context.data}, ${context.schemaCode})`);
    },
  });
}

function codePoints(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    if (text.codePointAt(at)! > 0xffff) at++;
    count++;
  }
  return count;
}
