import { _, type Ajv2020, type KeywordCxt, str } from 'ajv/dist/2020.js';

/** Replaces keywords of ajv whose time grows faster than the input, or needlessly. */
export function useQuickKeywords(ajv: Ajv2020): void {
  // JSON Schema counts characters (code points). ajv walks every string for it, which took a quarter of the submission
  // of a long prompt. A text has at most as many code points as code units, and at least half as many: mostly that
  // decides.
  replaceLength(ajv, 'maxLength', (text, limit) => text.length > limit && codePoints(text) > limit);
  replaceLength(ajv, 'minLength', (text, limit) => text.length < 2 * limit && codePoints(text) < limit);
  replaceUniqueItems(ajv);
}

function replaceLength(
  ajv: Ajv2020,
  keyword: string,
  isWrong: (text: string, limit: number) => boolean,
): void {
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

/** Replaces the keyword of ajv, which compares each element with each other. */
function replaceUniqueItems(ajv: Ajv2020): void {
  ajv.removeKeyword('uniqueItems').addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    error: {
      message: ({ params: { pair } }) =>
        str`must NOT have duplicate items (items ## ${_`${pair}[0]`} and ${_`${pair}[1]`} are identical)`,
      params: ({ params: { pair } }) => _`{i: ${pair}[1], j: ${pair}[0]}`,
    },
    code(context: KeywordCxt) {
      if (context.schema !== true) return;
      const find = context.gen.scopeValue('func', { ref: duplicatesIn });
      const pair = context.gen.const('pair', _`${find}(${context.data})`);
      context.setParams({ pair });
      context.fail(_`${pair} !== undefined`);
    },
  });
}

/**
 * Returns the two equal elements that ajv would find: the last that has an equal before it, and the nearest of these.
 */
function duplicatesIn(list: readonly unknown[]): [number, number] | undefined {
  const scalars = new Map<unknown, number>();
  const others = new Map<string, number>();
  let found: [number, number] | undefined;
  for (let at = 0; at < list.length; at++) {
    const element = list[at];
    const isScalar = typeof element !== 'object' || element === null;
    const seen: Map<unknown, number> = isScalar ? scalars : others;
    const key = isScalar ? element : canonical(element);
    const before = seen.get(key);
    if (before !== undefined) found = [before, at];
    seen.set(key, at);
  }
  return found;
}

/** Returns the same text for equal JSON values, whatever the order of their members. */
function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  const members = Object.keys(value).sort();
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonical((value as Record<string, unknown>)[name])}`).join()}}`;
}
