import { plainToInstance, Transform } from 'class-transformer';
import {
  getMetadataStorage,
  IsIn,
  IsInt,
  Max,
  Min,
  ValidateBy,
  validateSync,
  type ValidationError,
  type ValidationOptions,
} from 'class-validator';

export type Class<T> = new () => T;

/** What is wrong with one property, by the first of its rules that does not hold. */
export interface Fault {
  property: string;
  message: string;
  context: Record<string, unknown> | undefined;
  /** What a parser threw. */
  cause: Error | undefined;
}

/** What is wrong with one entry of a map; a parser throws several as an `AggregateError`. */
export class EntryFault extends Error {
  constructor(
    readonly entry: string,
    message: string,
  ) {
    super(message);
  }
}

/** Stands in the place of a value that its parser would not take, until the rules are checked. */
class Refused {
  constructor(readonly error: Error) {}
}

/** The property becomes what `parse` makes of its value; what that throws says what would have been accepted. */
export function Parsed(parse: (value: never) => unknown, options: ValidationOptions = {}): PropertyDecorator {
  return allOf(
    Transform(({ value }) => {
      try {
        return parse(value as never);
      } catch (error) {
        return new Refused(error as Error);
      }
    }),
    ValidateBy(
      {
        name: 'isParsed',
        validator: {
          validate: (value) => !(value instanceof Refused),
          defaultMessage: (made) => (made!.value as Refused).error.message,
        },
      },
      options,
    ),
  );
}

export function WholeNumber(min: number, max: number): PropertyDecorator {
  const options = { message: `expected a whole number from ${min} to ${max}` };
  return allOf(IsInt(options), Min(min, options), Max(max, options));
}

export function OneOf(...choices: readonly unknown[]): PropertyDecorator {
  return IsIn(choices, { message: `expected one of ${choices.join(', ')}` });
}

export function allOf(...decorators: readonly PropertyDecorator[]): PropertyDecorator {
  return (target, property) => decorators.forEach((decorate) => decorate(target, property));
}

/** What the class makes of plain values, and what its rules say about it. */
export function toInstance<T extends object>(
  type: Class<T>,
  plain: object,
  { exposedOnly = false } = {},
): { instance: T; faults: Fault[] } {
  const instance = plainToInstance(type, plain, {
    exposeDefaultValues: true,
    excludeExtraneousValues: exposedOnly,
    // YAML can hold itself.
    enableCircularCheck: true,
  });
  const faults = validateSync(instance, { stopAtFirstError: true, skipUndefinedProperties: true });
  return { instance, faults: faults.map(toFault) };
}

export function ruledProperties(type: Class<object>): string[] {
  const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  return [...new Set(rules.map(({ propertyName }) => propertyName))];
}

function toFault({ property, value, constraints = {}, contexts = {} }: ValidationError): Fault {
  const [[rule, message] = ['', 'is wrong']] = Object.entries(constraints);
  const cause = value instanceof Refused ? value.error : undefined;
  return { property, message, cause, context: contexts[rule] as Fault['context'] };
}
