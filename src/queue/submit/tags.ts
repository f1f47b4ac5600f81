import { isGiven, type Rule, rule } from '../../tools/rules.js';

export const maxTags = 8;

export const tag = rule({ type: String }, (value) => {
  if (typeof value !== 'string' || !/^[\w.-]{1,64}:[\w.-]{1,64}$/.test(value)) {
    throw new Error(
      'expected key:value, each of 1 to 64 letters, digits, dots, underscores and hyphens, such as job:17',
    );
  }
  return value;
});

/** One tag, or a list of tags. */
export const tags: Rule<readonly string[]> = rule({ type: [String] }, (value) => {
  const list = [...new Set((Array.isArray(value) ? value.filter(isGiven) : [value]).map(tag.read))];
  if (list.length > maxTags) throw new Error(`expected at most ${maxTags}`);
  return list;
});
