import { InvalidArgumentError } from 'commander';
import type { Rule } from '../../tools/rules.js';

/** Returns the parser of an option's value by the rule of the API. `toValue` returns the value as a body would have it. */
export const valueOf =
  <T>({ read }: Rule<T>, toValue: (text: string) => unknown = (text) => text) =>
  (text: string): T => {
    try {
      return read(toValue(text));
    } catch (error) {
      const { message } = error as Error;
      throw new InvalidArgumentError(`${message.charAt(0).toUpperCase()}${message.slice(1)}.`);
    }
  };

/** Returns the same for an option that may be repeated. */
export const valuesOf = <T>(rule: Rule<T>, toValue?: (text: string) => unknown) => {
  const parse = valueOf(rule, toValue);
  return (text: string, before: readonly T[] = []): T[] => [...before, parse(text)];
};

export const toLowerCase = (text: string): string => text.toLowerCase();

/** Any other text, such as `1e2`, stays a text, which a rule of numbers refuses. */
export const toNumber = (text: string): unknown =>
  /^(?:0|[1-9]\d{0,8})(?:\.\d{1,6})?$/.test(text) ? Number(text) : text;

/**
 * Returns the parser of an option that also takes this word. The word means null, which commander would take for no
 * value.
 */
export const valueOr =
  <Word extends string, T>(word: Word, rule: Rule<T>, toValue?: (text: string) => unknown) =>
  (text: string): T | Word =>
    text.toLowerCase() === word ? word : valueOf(rule, toValue)(text);

/** Also accepts a date without a time, which begins in UTC. Any other text stays as it is, for a rule to judge. */
export const toTime = (text: string): string => (/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text);
