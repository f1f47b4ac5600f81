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
const value = (fields: Record<string, string>, json = '') => parsed({ fields, json }, schema);
const parsed = (...given: Parameters<typeof inputOf>) => {
  const { json, ...others } = inputOf(...given);
  return { value: JSON.parse(json) as unknown, ...others };
};

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
  expect(parsed(emptyInput(null), null)).toEqual({ value: { prompt: 'hello' } });
  expect(inputOf({ fields: {}, json: '[1]' }, null).fault).toBe('The input must be a JSON object.');
  expect(inputOf({ fields: {}, json: '{' }, null).fault).toBe('The input is not valid JSON.');
  expect(value({ options: '{' }).fault).toBe('“options” is not valid JSON.');
});

test('numbers are sent as they were typed, also those that JavaScript cannot hold', () => {
  const fields = { width: '12345678901234567890', options: '{"seed": 12345678901234567891, "scale": 1e400}' };
  expect(inputOf({ fields, json: '' }, schema).json).toBe(
    '{"width":12345678901234567890,"options":{"seed": 12345678901234567891, "scale": 1e400}}',
  );
  const json = '{ "seed": 12345678901234567890 }';
  expect(inputOf({ fields: {}, json: `${json}\n` }, null).json).toBe(json);
  expect(inputOf({ fields: { width: '1.' }, json }, schema).json).toBe(
    '{"width":1, "seed": 12345678901234567890 }',
  );
  expect(inputOf({ fields: { width: '.5' }, json: '{}' }, schema).json).toBe('{"width":0.5}');
});
