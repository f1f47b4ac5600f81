import { InputSchemas, maxInlineBytes } from './input-schemas.js';

const compile = (schema: Record<string, unknown>) => new InputSchemas().compile(schema);

const tree = {
  $ref: '#/$defs/node',
  $defs: {
    node: {
      type: 'object',
      properties: {
        left: { $ref: '#/$defs/node' },
        right: { $ref: '#/$defs/node' },
        name: { type: 'string' },
      },
    },
  },
};

describe('an input of up to 64 KiB is checked inline by a schema', () => {
  it.each([
    [
      'of a few properties',
      { properties: { prompt: { type: 'string', maxLength: 9 }, size: { enum: [1, 2] } } },
    ],
    ['with a pattern that matches in one way', { properties: { a: { pattern: '^[a-z]+$' } } }],
    ['that is a tree', tree],
  ])('%s', (_, schema) => expect(compile(schema).maxInlineBytes).toBe(maxInlineBytes));
});

describe('only a smaller input is checked inline by a schema', () => {
  it.each([
    ['with a pattern that matches in many ways', { properties: { a: { pattern: '^(\\w+\\s?)*$' } } }],
    [
      'that looks at a value often',
      { anyOf: Array.from({ length: 30 }, (_, at) => ({ required: [`a${at}`] })) },
    ],
    ['that lists much', { items: { enum: Array.from({ length: 1_000 }, (_, at) => at) } }],
  ])('%s', (_, schema) => {
    const { maxInlineBytes: bytes, unbounded } = compile(schema);
    expect(unbounded).toEqual([]);
    expect(bytes).toBeGreaterThan(1_000);
    expect(bytes).toBeLessThan(maxInlineBytes);
  });
});

const expression = {
  anyOf: [
    { properties: { args: { type: 'array', items: { $ref: '#' } }, op: { const: 'and' } } },
    { properties: { args: { type: 'array', items: { $ref: '#' } }, op: { const: 'or' } } },
  ],
};

describe('no input is checked inline by a schema', () => {
  it.each([
    ['with a pattern that looks ahead', { properties: { a: { pattern: '^(?!x)' } } }, '^(?!x)'],
    ['with one for names', { patternProperties: { '(a)\\1': {} } }, '(a)\\1'],
    ['with a format that is slow', { properties: { a: { format: 'url' } } }, 'url'],
    ['that comes back in two ways', expression, '$ref'],
    ['that leads back by a dynamic anchor', { $dynamicAnchor: 'me', items: { $dynamicRef: '#me' } }, '#me'],
  ])('%s, and the reason is reported', (_, schema, word) => {
    const { maxInlineBytes: bytes, unbounded } = compile(schema);
    expect(bytes).toBe(0);
    expect(unbounded).toEqual([{ word, reason: expect.any(String) }]);
  });
});

describe('a check of a large input ends', () => {
  it('of a pattern with nested repetitions', () => {
    const { validate } = compile({ properties: { a: { pattern: '^(\\w+\\s?)*$' } } });
    expect(validate({ a: `${'a'.repeat(50_000)}!` })).toHaveLength(1);
    expect(validate({ a: 'a'.repeat(50_000) })).toEqual([]);
  });

  it('of unique elements', () => {
    const { validate } = compile({ properties: { list: { uniqueItems: true } } });
    const list: unknown[] = Array.from({ length: 100_000 }, (_, at) => ({ at }));
    expect(validate({ list })).toEqual([]);
    expect(validate({ list: [...list, { at: 7 }] })).toEqual([
      {
        path: '/list',
        message: 'must NOT have duplicate items (items ## 7 and 100000 are identical)',
      },
    ]);
  });
});

it.each([
  ['[1, "1", true, "true", null, "null", [], {}, [[]], ["{}"]]', undefined],
  ['[0, -0]', '0 and 1'],
  ['[1, 1.0]', '0 and 1'],
  ['[{"a": 1, "b": [2]}, {"b": [2], "a": 1}]', '0 and 1'],
  ['[{"a": 1}, {"a": "1"}]', undefined],
  ['[{"a": 1}, {"a": 1, "b": 1}]', undefined],
  ['[[1, 2], [2, 1], [1, 2]]', '0 and 2'],
  ['["a", "b", "a", "a"]', '2 and 3'],
  ['[{"__proto__": 1}, {"__proto__": 2}]', undefined],
])('the uniqueness of elements depends on their values: %s', (list, places) => {
  const [error] = compile({ type: 'array', uniqueItems: true }).validate(JSON.parse(list));
  expect(error?.message).toBe(places && `must NOT have duplicate items (items ## ${places} are identical)`);
});
