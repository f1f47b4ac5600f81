import { embeddedSchemas } from './embedded-schema.js';

const at = '#/components/schemas/Input';

it('moves definitions next to the schema, and updates the references to them', () => {
  const schema = {
    type: 'object',
    properties: { size: { $ref: '#/$defs/size' }, children: { type: 'array', items: { $ref: '#' } } },
    allOf: [{ $ref: '#/properties/size' }, { $ref: '#/$defs/size/properties/x' }],
    $defs: { size: { properties: { x: { type: 'integer' }, next: { $ref: '#/$defs/size' } } } },
  };
  expect(embeddedSchemas(schema)).toEqual({
    Input: {
      type: 'object',
      properties: { size: { $ref: `${at}_size` }, children: { type: 'array', items: { $ref: at } } },
      allOf: [{ $ref: `${at}/properties/size` }, { $ref: `${at}_size/properties/x` }],
    },
    Input_size: { properties: { x: { type: 'integer' }, next: { $ref: `${at}_size` } } },
  });
});

it('resolves the $id of the schema, its anchors, and encoded pointers', () => {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'https://acme.example/input',
    anyOf: [
      { $ref: 'https://acme.example/input#/$defs/a~1b' },
      { $ref: '#named' },
      { $ref: '#unknown' },
      { $ref: '#/%24defs/c%20d' },
      { $ref: '#/$defs/%' },
      { $ref: 'https://acme.example/input' },
    ],
    $defs: { 'a/b': { type: 'string' }, 'c d': { $anchor: 'named', type: 'integer' } },
  };
  expect(embeddedSchemas(schema)).toEqual({
    Input: {
      anyOf: [
        { $ref: `${at}_a_b` },
        { $ref: `${at}_c_d` },
        { $ref: '#unknown' },
        { $ref: `${at}_c_d` },
        { $ref: '#/$defs/%' },
        { $ref: at },
      ],
    },
    Input_a_b: { type: 'string' },
    Input_c_d: { $anchor: 'named', type: 'integer' },
  });
});

it('names each definition uniquely, at any depth', () => {
  const schema = {
    $defs: { a: { $defs: { a: { type: 'string' } }, $ref: '#/$defs/a/$defs/a' } },
    definitions: { a: true },
  };
  expect(embeddedSchemas(schema)).toEqual({
    Input: {},
    Input_a: { $ref: `${at}_a_` },
    Input_a_: { type: 'string' },
    Input_a__: true,
  });
});

it('does not change values, property names, and subschemas that have their own $id', () => {
  const schema = {
    properties: {
      $ref: { type: 'string' },
      $defs: { type: 'string' },
      own: { $id: 'https://acme.example/own', $ref: '#/$defs/a', $defs: { a: true } },
    },
    default: { $ref: '#/a' },
    enum: [{ $ref: '#/a' }],
    additionalProperties: false,
  };
  expect(embeddedSchemas(schema)).toEqual({ Input: schema });
});
