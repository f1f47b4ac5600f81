import { Ajv2020, type ErrorObject, MissingRefError, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { FieldError } from '../errors/domain-error.js';
import { compilePattern, type Pattern } from './patterns.js';
import { costOf, type SchemaCost } from './schema-cost.js';
import { useQuickKeywords } from './schema-keywords.js';
import { fieldErrors } from './validation-messages.js';

/** A fault of a schema, and its place: a JSON Pointer, or a word in it. */
export class SchemaFault extends Error {
  constructor(
    message: string,
    readonly pointer: string,
    readonly word?: string,
  ) {
    super(message);
  }
}

export interface InputSchema {
  /** Returns what is wrong with the input; empty: it fits. */
  validate(input: unknown): FieldError[];
  /** An input of more bytes may take too long to be checked between two other calls. */
  maxInlineBytes: number;
  /** Why no input is checked inline; empty: there is no such reason. */
  unbounded: SchemaCost['unbounded'];
}

/** A larger input is read and checked in a thread, because reading this much takes up to 8 ms. */
export const maxInlineBytes = 64 * 1024;
/** The most nanoseconds that an inline check may take, without the reading. */
const maxInlineCost = 10_000_000;

const maxValues = 2_000;
const draft = 'https://json-schema.org/draft/2020-12/schema';

/** Compiles the input schemas of one models file. It fetches nothing, so only references within a schema work. */
export class InputSchemas {
  private readonly patterns = new Map<string, Pattern>();
  private readonly patternOf = (source: string): Pattern => {
    const known = this.patterns.get(source);
    const pattern = known ?? compilePattern(source);
    this.patterns.set(source, pattern);
    return pattern;
  };

  /** Makes what ajv uses as a regular expression. ajv distinguishes them by their text. */
  private readonly regExp = (source: string): { test(text: string): boolean; toString(): string } => {
    const { test } = this.patternOf(source);
    return { test, toString: () => `/${source}/u` };
  };

  private readonly quick = this.createAjv(false);
  private readonly thorough = this.createAjv(true);

  compile(schema: Record<string, unknown>): InputSchema {
    if (schema.$schema !== undefined && schema.$schema !== draft) {
      throw new SchemaFault(`expected "$schema" to be ${draft}, or left out`, '/$schema');
    }
    if (schema.$async !== undefined) throw new SchemaFault('"$async" is not supported', '/$async');
    if (this.quick.validateSchema(schema) !== true) throw schemaFault(this.quick.errors?.[0]);
    try {
      const quick = compileAlone(this.quick, schema);
      const thorough = compileAlone(this.thorough, schema);
      const { cost, unbounded } = costOf(schema, this.patternOf);
      return {
        validate: (input) => validate(input, quick, thorough),
        maxInlineBytes: Math.min(maxInlineBytes, Math.floor(maxInlineCost / cost)),
        unbounded,
      };
    } catch (error) {
      throw compileFault(error as Error);
    }
  }

  private createAjv(allErrors: boolean): Ajv2020 {
    const ajv = new Ajv2020({
      allErrors,
      strict: true,
      strictRequired: false,
      strictTypes: false,
      strictTuples: false,
      // `{"required": ["constructor"]}` must not be met by what every object inherits.
      ownProperties: true,
      // Passes the schema to the messages, for their hints.
      verbose: true,
      logger: false,
      code: { regExp: Object.assign(this.regExp, { code: 'compilePattern' }) },
    });
    formats.default(ajv);
    useQuickKeywords(ajv);
    return ajv;
  }
}

/** Removes the schema again, so that two models may use one `$id` and none can refer to another's. */
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
      `"${reference}" does not exist in the schema; only references within it, such as "#/$defs/size", work`,
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
 * The quick form stops at the first error. The thorough form names all, but its list grows with the input (a body of
 * five million wrong elements would take a gigabyte). It therefore checks only small inputs.
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

/** Whether a JSON value has few enough values in it for an error about each of them. */
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
