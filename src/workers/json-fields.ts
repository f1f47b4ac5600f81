import { DomainError } from '../errors/domain-error.js';
import { isObject, parseObjectBody } from '../http/input/json-body.js';
import { isStorable } from '../tools/storable-text.js';

/** Reads the members of a JSON body one by one. A fault is answered 400 with what is expected. */
export class JsonFields {
  constructor(
    private readonly value: Readonly<Record<string, unknown>>,
    private readonly path = '',
  ) {}

  static of(body: Buffer, example: string, takesAnyText = false): JsonFields {
    return new JsonFields(parseObjectBody(body, { example, takesAnyText }).value);
  }

  /** undefined: the member is missing or null. */
  get(name: string): unknown {
    return this.value[name] ?? undefined;
  }

  fault(name: string, expected: string): DomainError {
    return new DomainError('bad_request', `"${this.path}${name}" takes ${expected}.`);
  }

  text(name: string, maxLength: number): string | undefined {
    const value = this.get(name);
    if (value === undefined) return undefined;
    const isText = typeof value === 'string' && value.length <= maxLength && value.isWellFormed();
    if (isText && !/\p{Cc}/u.test(value)) return value;
    throw this.fault(name, `a text of at most ${maxLength} printable characters`);
  }

  requiredText(name: string, maxLength: number): string {
    const value = this.text(name, maxLength);
    if (value !== undefined && value !== '') return value;
    throw this.fault(name, `a text of 1 to ${maxLength} printable characters`);
  }

  whole(name: string, min: number, max: number): number | undefined {
    const value = this.get(name);
    if (value === undefined) return undefined;
    if (Number.isInteger(value) && Number(value) >= min && Number(value) <= max) return Number(value);
    throw this.fault(name, `a whole number from ${min} to ${max}`);
  }

  object(name: string): JsonFields | undefined {
    const value = this.get(name);
    if (value === undefined) return undefined;
    if (!isObject(value)) throw this.fault(name, 'an object');
    return new JsonFields(value, `${this.path}${name}.`);
  }

  list(name: string, maxLength: number): unknown[] {
    const value = this.get(name) ?? [];
    if (Array.isArray(value) && value.length <= maxLength) return value;
    throw this.fault(name, `a list of at most ${maxLength}`);
  }

  /** Reads a map of short texts by short names. */
  labels(name: string, maxCount: number, maxLength: number): Record<string, string> | undefined {
    const value = this.get(name);
    if (value === undefined) return undefined;
    const isShort = (text: unknown): boolean =>
      typeof text === 'string' && text.length <= maxLength && isStorable(text);
    const areLabels =
      isObject(value) &&
      Object.keys(value).length <= maxCount &&
      Object.entries(value).every(([label, text]) => isShort(label) && isShort(text));
    if (areLabels) return value as Record<string, string>;
    throw this.fault(name, `an object of at most ${maxCount} texts, each of at most ${maxLength} characters`);
  }
}
