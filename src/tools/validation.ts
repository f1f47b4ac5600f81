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
} from 'class-validator';

export type Class<T> = new () => T;

/** The fault of one property: the first of its rules that it violates. */
export interface Fault {
  property: string;
  message: string;
  /** The error that a parser threw. */
  cause: Error | undefined;
}

/** The fault of one entry of a map. A parser throws several as an `AggregateError`. */
export class EntryFault extends Error {
  constructor(
    readonly entry: string,
    message: string,
  ) {
    super(message);
  }
}

/** Replaces a value that its parser refused, until the rules are checked. */
class Refused {
  constructor(readonly error: Error) {}
}

/** Sets the property to the result of `parse`. An error that `parse` throws says what is accepted. */
export function Parsed(parse: (value: never) => unknown): PropertyDecorator {
  return allOf(
    Transform(({ value }) => {
      try {
        return parse(value as never);
      } catch (error) {
        return new Refused(error as Error);
      }
    }),
    ValidateBy({
      name: 'isParsed',
      validator: {
        validate: (value) => !(value instanceof Refused),
        defaultMessage: (made) => (made!.value as Refused).error.message,
      },
    }),
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

/** Creates an instance of the class from plain values and returns it with the violations of its rules. */
export function toInstance<T extends object>(
  type: Class<T>,
  plain: object,
  { exposedOnly = false } = {},
): { instance: T; faults: Fault[] } {
  const instance = plainToInstance(type, plain, {
    exposeDefaultValues: true,
    excludeExtraneousValues: exposedOnly,
    // A YAML document can contain itself.
    enableCircularCheck: true,
  });
  const faults = validateSync(instance, { stopAtFirstError: true, skipUndefinedProperties: true });
  return { instance, faults: faults.map(toFault) };
}

export function ruledProperties(type: Class<object>): string[] {
  const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  return [...new Set(rules.map(({ propertyName }) => propertyName))];
}

function toFault({ property, value, constraints = {} }: ValidationError): Fault {
  const [message = 'is wrong'] = Object.values(constraints);
  const cause = value instanceof Refused ? value.error : undefined;
  return { property, message, cause };
}
