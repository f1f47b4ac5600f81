import { Allow, MaxLength, ValidateBy } from 'class-validator';
import { parseDuration } from '../config/parsers.js';
import { type Class, Parsed } from '../tools/validation.js';

/** What a model's `runner` says. Each kind adds its own options, with their rules. */
export class RunnerOptions {
  @Allow() kind!: string;

  /** As the `model` table has it. */
  label(): string {
    return this.kind;
  }

  /** Whether workers claim its runs over HTTP: no node runs any. */
  get isPulled(): boolean {
    return false;
  }

  /** What is wrong with the options as a whole. */
  fault(): string | undefined {
    return undefined;
  }

  /** What its runs are sent with that nobody else may know, such as the values of header fields. */
  secrets(): readonly string[] {
    return [];
  }

  /** The URLs that its runs are sent to, each to one of them; none: they stay in this process. */
  addresses(): readonly string[] {
    return [];
  }
}

export interface RunnerKind {
  readonly kind: string;
  readonly Options: Class<RunnerOptions>;
}

export function Required(): PropertyDecorator {
  const validate = (value: unknown): boolean => value !== undefined;
  return ValidateBy({ name: 'isDefined', validator: { validate } }, { message: 'is missing' });
}

export function Text(maxLength: number): PropertyDecorator {
  return MaxLength(maxLength, { message: `expected a text of at most ${maxLength} characters` });
}

/** Milliseconds of a duration from 1 ms to `max`, itself a duration. */
export function Duration(max: string): PropertyDecorator {
  const maxMs = parseDuration(max);
  return Parsed((value: unknown) => {
    const ms = parseDuration(
      typeof value === 'number' ? String(value) : typeof value === 'string' ? value : '',
    );
    if (ms < 1 || ms > maxMs) throw new Error(`expected a duration from 1ms to ${max}`);
    return ms;
  });
}
