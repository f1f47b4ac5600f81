import { embeddedSchema } from './embedded-schema.js';

const at = '#/components/schemas/Input';
const embed = (schema: Record<string, unknown>) => embeddedSchema(schema, at);

it('lets references point to where the schema is now', () => {
  const schema = {
    type: 'object',
    properties: { size: { $ref: '#/$defs/size' }, children: { type: 'array', items: { $ref: '#' } } },
    allOf: [{ $ref: '#/properties/size' }],
    $defs: { size: { type: 'integer' } },
  };
  expect(embed(schema)).toEqual({
    type: 'object',
    properties: {
      size: { $ref: `${at}/$defs/size` },
      children: { type: 'array', items: { $ref: at } },
    },
    allOf: [{ $ref: `${at}/properties/size` }],
    $defs: { size: { type: 'integer' } },
  });
});

it('knows its own name and its anchors', () => {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'https://acme.example/input',
    anyOf: [{ $ref: 'https://acme.example/input#/$defs/a~1b' }, { $ref: '#named' }, { $ref: '#unknown' }],
    $defs: { 'a/b': { type: 'string' }, 'c d': { $anchor: 'named', type: 'integer' } },
  };
  expect(embed(schema)).toEqual({
    anyOf: [{ $ref: `${at}/$defs/a~1b` }, { $ref: `${at}/$defs/c%20d` }, { $ref: '#unknown' }],
    $defs: schema.$defs,
  });
});

it('leaves alone what is a value, a name or a schema of its own', () => {
  const schema = {
    properties: { $ref: { type: 'string' }, own: { $id: 'https://acme.example/own', $ref: '#/$defs/a' } },
    default: { $ref: '#/a' },
    enum: [{ $ref: '#/a' }],
    additionalProperties: false,
  };
  expect(embed(schema)).toEqual(schema);
});
