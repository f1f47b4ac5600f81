import type { JsonSchema } from '../api/types';
import { emptyInput, inputOf, kindOf } from './schema-input';

const schema: JsonSchema = {
  type: 'object',
  properties: {
    prompt: { type: 'string' },
    width: { type: ['integer', 'null'] },
    style: { enum: ['ink', 3] },
    tiled: { type: 'boolean' },
    options: { type: 'object' },
  },
};
const value = (fields: Record<string, string>, json = '') => inputOf({ fields, json }, schema);

test('each member gets the field of its kind', () => {
  expect(Object.values(schema.properties!).map(kindOf)).toEqual([
    'text',
    'number',
    'choice',
    'boolean',
    'json',
  ]);
  expect(kindOf({})).toBe('json');
});

test('fields become JSON of their types, and empty ones are left out', () => {
  const fields = { prompt: '7', width: '768', style: '3', tiled: 'false', options: '{"a": [1]}' };
  expect(value(fields)).toEqual({
    value: { prompt: '7', width: 768, style: 3, tiled: false, options: { a: [1] } },
  });
  expect(value({ prompt: '', width: '' })).toEqual({ value: {} });
});

test('without a schema the input is JSON, and says what is wrong with it', () => {
  expect(inputOf(emptyInput(null), null)).toEqual({ value: { prompt: 'hello' } });
  expect(inputOf({ fields: {}, json: '[1]' }, null).fault).toBe('The input is a JSON object.');
  expect(inputOf({ fields: {}, json: '{' }, null).fault).toBe('The input is no JSON yet.');
  expect(value({ options: '{' }).fault).toBe('“options” is no JSON.');
});
