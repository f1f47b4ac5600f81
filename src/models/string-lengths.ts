import { _, type Ajv2020, type KeywordCxt } from 'ajv/dist/2020.js';

/**
 * JSON Schema counts characters (code points), ajv by walking every string, which took a quarter of a long prompt's
 * submission. A text has at most as many code points as code units, and at least half as many: mostly that decides.
 */
export function useQuickStringLengths(ajv: Ajv2020): void {
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
