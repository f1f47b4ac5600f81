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

/** All that is known to be wrong with a schema. */
export class SchemaFaults extends Error {
  constructor(readonly faults: readonly SchemaFault[]) {
    super(faults.map(({ message }) => message).join('; '));
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
/** Keywords of OpenAPI and fal that change nothing about which inputs are valid. Those with `x-` need no list. */
const annotations = ['components', 'discriminator', 'example', 'externalDocs', 'ui', 'xml'];
/** Formats of pydantic that any text has, as far as this service checks. */
const freeFormats = [
  'base64',
  'base64url',
  'color',
  'directory-path',
  'file-path',
  'ipvanyaddress',
  'ipvanyinterface',
  'ipvanynetwork',
  'json-string',
  'multi-host-uri',
  'name-email',
  'path',
  'phone',
  'uuid1',
  'uuid3',
  'uuid4',
  'uuid5',
  'uuid6',
  'uuid7',
  'uuid8',
];

/** Checks schemas themselves. Its compiled form is kept, because compiling it takes longer than all else of a file. */
const schemas = formats.default(new Ajv2020({ verbose: true }));

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

  /** What ajv reports of the schema that it compiles. */
  private reports: string[] = [];
  private readonly quick = this.createAjv(false);
  private readonly thorough = this.createAjv(true);

  /** Throws `SchemaFaults`. */
  compile(schema: Record<string, unknown>): InputSchema {
    if (schema.$schema !== undefined && schema.$schema !== draft) {
      throw faults(`expected "$schema" to be ${draft}, or left out`, '/$schema');
    }
    if (schema.$async !== undefined) throw faults('"$async" is not supported', '/$async');
    if (schemas.validateSchema(schema) !== true) throw schemaFaults(schemas.errors?.[0]);
    try {
      const quick = this.compileQuick(schema);
      const thorough = compileAlone(this.thorough, schema);
      const { cost, unbounded } = costOf(schema, this.patternOf);
      return {
        validate: (input) => validate(input, quick, thorough),
        maxInlineBytes: Math.min(maxInlineBytes, Math.floor(maxInlineCost / cost)),
        unbounded,
      };
    } catch (error) {
      throw compileFaults(error as Error);
    }
  }

  /** Throws all faults that ajv can name, and not only the first unknown keyword or format. */
  private compileQuick(schema: Record<string, unknown>): ValidateFunction {
    const found: SchemaFault[] = [];
    const formats: string[] = [];
    let quick: ValidateFunction | undefined;
    this.reports = [];
    for (let canGoOn = true; canGoOn && quick === undefined;) {
      try {
        quick = compileAlone(this.quick, schema);
      } catch (error) {
        found.push(...compileFaults(error as Error).faults);
        const format = /^unknown format "(.*)" ignored in schema at /s.exec((error as Error).message)?.[1];
        // The same format is reported again if its end was not found in the message.
        canGoOn = format !== undefined && !formats.includes(format);
        if (format === undefined) continue;
        formats.push(format);
        this.quick.addFormat(format, true);
      }
    }
    for (const format of formats) delete this.quick.formats[format];
    const reports = new Set(this.reports.filter((report) => !/unknown keyword: "x-/i.test(report)));
    for (const report of reports) found.push(...compileFaults(new Error(report)).faults);
    if (quick === undefined || found.length > 0) throw new SchemaFaults(found);
    return quick;
  }

  private createAjv(allErrors: boolean): Ajv2020 {
    const ajv = new Ajv2020({
      allErrors,
      strict: true,
      // Reports unknown keywords, instead of throwing the first one.
      strictSchema: 'log',
      strictRequired: false,
      strictTypes: false,
      strictTuples: false,
      validateSchema: false,
      // `{"required": ["constructor"]}` must not be met by what every object inherits.
      ownProperties: true,
      // Passes the schema to the messages, for their hints.
      verbose: true,
      logger: {
        log: () => undefined,
        warn: (text: unknown) => void this.reports.push(String(text)),
        error: () => undefined,
      },
      code: { regExp: Object.assign(this.regExp, { code: 'compilePattern' }) },
    });
    formats.default(ajv);
    for (const format of freeFormats) ajv.addFormat(format, true);
    ajv.addVocabulary(annotations);
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

const faults = (...fault: ConstructorParameters<typeof SchemaFault>): SchemaFaults =>
  new SchemaFaults([new SchemaFault(...fault)]);

function schemaFaults(error: ErrorObject | undefined): SchemaFaults {
  if (error === undefined) return faults('is not a JSON Schema', '');
  const [{ path, message }] = fieldErrors([error]) as [FieldError];
  return faults(`${path || 'the schema'} ${message}`, error.instancePath);
}

function compileFaults(error: Error): SchemaFaults {
  if (error instanceof SchemaFaults) return error;
  if (error instanceof MissingRefError) {
    const [, reference = ''] = /can't resolve reference (\S+)/.exec(error.message) ?? [];
    return faults(
      `"${reference}" does not exist in the schema; only references within it, such as "#/$defs/size", work`,
      '',
      reference,
    );
  }
  const [, pointer] = /at path "#([^"]*)"/.exec(error.message) ?? [];
  if (pointer !== undefined) return faults(error.message, decodeURIComponent(pointer));
  const [, quoted, pattern] = /"([^"]*)"|regular expression: \/(.*)\/[a-z]*:/.exec(error.message) ?? [];
  return faults(error.message, '', quoted ?? pattern);
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

/** Returns whether a JSON value has few enough values in it for an error about each of them. */
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
