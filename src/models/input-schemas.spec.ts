import { runInNewContext } from 'node:vm';
import { InputSchemas, type SchemaFault, type SchemaFaults } from './input-schemas.js';

function check(schema: Record<string, unknown>, json: string) {
  return new InputSchemas().compile(schema).validate(JSON.parse(json));
}

function faultsOf(schema: Record<string, unknown>): readonly SchemaFault[] {
  try {
    new InputSchemas().compile(schema);
  } catch (error) {
    return (error as SchemaFaults).faults;
  }
  throw new Error('the schema was taken');
}

function faultOf(schema: Record<string, unknown>): SchemaFault {
  const [fault, ...others] = faultsOf(schema);
  expect(others).toEqual([]);
  return fault!;
}

const picture = {
  type: 'object',
  required: ['prompt'],
  additionalProperties: false,
  properties: {
    prompt: { type: 'string', minLength: 1 },
    width: { type: 'integer', minimum: 16, maximum: 64 },
    style: { enum: ['oil', 'ink'] },
    'a/b~c': { type: ['string', 'null'] },
    at: { format: 'date-time' },
    tags: { type: 'array', maxItems: 1, items: { type: 'string' } },
  },
};

describe('an input schema', () => {
  it('reports no error for a valid input', () =>
    expect(check(picture, '{"prompt":"a","width":16,"style":"oil","a/b~c":null}')).toEqual([]));

  it.each([
    ['{}', '/prompt', '"prompt" is required'],
    ['{"prompt":""}', '/prompt', 'must have at least 1 character'],
    ['{"prompt":7}', '/prompt', 'must be a string'],
    ['{"prompt":"a","width":1.5}', '/width', 'must be an integer'],
    ['{"prompt":"a","width":8}', '/width', 'must be at least 16'],
    ['{"prompt":"a","width":65}', '/width', 'must be at most 64'],
    ['{"prompt":"a","widht":20}', '/widht', '"widht" is not a property of this input, did you mean "width"?'],
    ['{"prompt":"a","zzz":20}', '/zzz', '"zzz" is not a property of this input'],
    ['{"prompt":"a","style":"chalk"}', '/style', 'must be one of "oil", "ink"'],
    ['{"prompt":"a","a/b~c":1}', '/a~1b~0c', 'must be a string or null'],
    ['{"prompt":"a","at":"noon"}', '/at', 'must be a valid date-time'],
    ['{"prompt":"a","tags":["a",1]}', '/tags/1', 'must be a string'],
    ['{"prompt":"a","tags":["a","b"]}', '/tags', 'must have at most 1 element'],
    ['[]', '', 'must be an object'],
  ])('reports %s at %s: %s', (json, path, message) =>
    expect(check(picture, json)).toContainEqual({ path, message }),
  );

  it('reports all errors of a small input at once', () => {
    const paths = check(picture, '{"width":1,"style":2}').map(({ path }) => path);
    expect(paths.sort()).toEqual(['/prompt', '/style', '/width']);
  });

  it('reports at most 20 errors, and only the first error of a large input', () => {
    const schema = { type: 'object', properties: { list: { type: 'array', items: { type: 'string' } } } };
    expect(check(schema, `{"list":[${Array(100).fill('1').join()}]}`)).toHaveLength(20);
    expect(check(schema, `{"list":[${Array(100_000).fill('1').join()}]}`)).toHaveLength(1);
  });

  it('shortens unknown property names in errors', () => {
    const errors = check(picture, JSON.stringify({ prompt: 'a', ['x'.repeat(100_000)]: 1 }));
    expect(JSON.stringify(errors).length).toBeLessThan(400);
  });

  it('treats inherited names, for example constructor, as ordinary properties', () => {
    expect(check({ type: 'object', required: ['constructor', 'toString'] }, '{}')).toHaveLength(2);
    expect(check(picture, '{"prompt":"a","__proto__":{"width":20}}')).toEqual([
      { path: '/__proto__', message: '"__proto__" is not a property of this input' },
    ]);
    const missing = { path: '/prompt', message: '"prompt" is required' };
    expect(check(picture, '{"__proto__":{"prompt":"a"}}')).toContainEqual(missing);
    expect(({} as { prompt?: unknown }).prompt).toBeUndefined();
  });

  it('leaves the input as it is', () => {
    const input = { prompt: 'a', width: 20 };
    const properties = { ...picture.properties, steps: { default: 3 } };
    new InputSchemas().compile({ ...picture, properties }).validate(input);
    expect(input).toEqual({ prompt: 'a', width: 20 });
  });

  it('refuses an input that is nested too deeply to be checked', () => {
    const schema = { type: 'object', properties: { next: { $ref: '#' } } };
    expect(check(schema, `${'{"next":'.repeat(200_000)}{}${'}'.repeat(200_000)}`)).toEqual([
      { path: '', message: 'is nested too deeply' },
    ]);
  });

  it('may use the $id of another schema, but cannot refer to that schema', () => {
    const schemas = new InputSchemas();
    const shared = { $id: 'https://models.example/size', type: 'object' };
    schemas.compile({ ...shared, required: ['a'] });
    expect(schemas.compile({ ...shared, required: ['b'] }).validate({})[0]?.path).toBe('/b');
    const other = { $ref: 'https://models.example/size' };
    expect(() => schemas.compile(other)).toThrow('does not exist in the schema');
  });

  it('is never fetched from the URL of a $ref', () => {
    const fault = faultOf({ properties: { size: { $ref: 'http://127.0.0.1:1/size.json' } } });
    expect(fault.message).toContain('"http://127.0.0.1:1/size.json" does not exist in the schema');
    expect(fault.word).toBe('http://127.0.0.1:1/size.json');
  });

  it.each([
    ['a type that is none', { properties: { a: { type: 'strng' } } }, '/properties/a/type', undefined],
    ['an unknown keyword', { properties: { a: { minimun: 1 } } }, '', 'minimun'],
    ['a pattern that is none', { properties: { a: { pattern: '(' } } }, '', '('],
    ['another draft', { $schema: 'http://json-schema.org/draft-07/schema#' }, '/$schema', undefined],
    ['an asynchronous schema', { $async: true }, '/$async', undefined],
    ['an unknown format', { properties: { a: { format: 'colour' } } }, '/properties/a', undefined],
  ])('with %s is refused with the location of the error', (_, schema, pointer, word) =>
    expect(faultOf(schema)).toMatchObject({ pointer, word }),
  );
});

it.each([
  ['a quotation mark', { a: { format: 'a"b' } }],
  ['a line break', { a: { format: 'a\nb' } }],
  ['text of an error message', { a: { format: 'a" ignored in schema at path "#/b' } }],
  ['a property whose name has text of an error message', { 'a" ignored in schema at "': { format: 'b' } }],
])('an unknown format with %s ends the compilation', (_, properties) => {
  const compile = (): number => faultsOf({ properties }).length;
  // Only another context can interrupt a loop that does not end.
  expect(runInNewContext('compile()', { compile }, { timeout: 10_000 })).toBeGreaterThan(0);
});

it('names all unknown keywords and formats at once', () => {
  const schema = {
    propertees: {},
    properties: { a: { minimun: 1, format: 'colour' }, b: { maximun: 1, format: 'smell', minimun: 2 } },
  };
  const schemas = new InputSchemas();
  for (let time = 0; time < 2; time++) {
    const words = faultsOf(schema).map(({ word, pointer, message }) => word ?? `${pointer} ${message}`);
    expect(words.map((word) => word.replace(/ unknown format "(\w+)".*/, ' $1')).sort()).toEqual(
      ['/properties/a colour', '/properties/b smell', 'maximun', 'minimun', 'propertees'].sort(),
    );
    expect(() => schemas.compile(schema)).toThrow('colour');
  }
});

const image = 'data:image/png;base64,iVBORw0KGgo=';

it.each<[string, Record<string, unknown>, object[], object[]]>([
  [
    'pydantic and FastAPI',
    {
      $defs: {
        Cat: {
          properties: { kind: { const: 'cat', title: 'Kind', type: 'string' } },
          required: ['kind'],
          title: 'Cat',
          type: 'object',
        },
        Dog: {
          properties: { kind: { const: 'dog', default: 'dog', title: 'Kind', type: 'string' } },
          title: 'Dog',
          type: 'object',
        },
      },
      title: 'Input',
      description: 'An input.',
      type: 'object',
      required: ['prompt', 'pet'],
      examples: [{ prompt: 'a', pet: { kind: 'cat' } }],
      properties: {
        prompt: { title: 'Prompt', type: 'string', minLength: 1, examples: ['a cat'], example: 'a dog' },
        pet: {
          title: 'Pet',
          discriminator: { mapping: { cat: '#/$defs/Cat', dog: '#/$defs/Dog' }, propertyName: 'kind' },
          oneOf: [{ $ref: '#/$defs/Cat' }, { $ref: '#/$defs/Dog' }],
        },
        seed: { anyOf: [{ type: 'integer' }, { type: 'null' }], default: null, title: 'Seed' },
        folder: { format: 'directory-path', title: 'Folder', type: 'string' },
        secret: { format: 'password', type: 'string', writeOnly: true },
        old: { deprecated: true, readOnly: true, type: 'string' },
        settings: {
          contentMediaType: 'application/json',
          contentSchema: { type: 'object' },
          type: 'string',
          'x-widget': 'code',
        },
        id: {
          format: 'uuid4',
          type: 'string',
          externalDocs: { url: 'https://docs.example' },
          xml: { name: 'id' },
        },
        size: {
          type: 'array',
          prefixItems: [{ type: 'integer' }, { type: 'integer' }],
          minItems: 2,
          maxItems: 2,
        },
      },
    },
    [
      {
        prompt: 'a',
        pet: { kind: 'cat' },
        seed: null,
        folder: '/tmp',
        id: 'x',
        size: [1, 2],
        settings: '{}',
      },
    ],
    [
      { prompt: '', pet: { kind: 'cat' } },
      { prompt: 'a', pet: { kind: 'cow' } },
    ],
  ],
  [
    'Cog',
    {
      title: 'Input',
      type: 'object',
      required: ['image'],
      components: {
        schemas: {
          scheduler: {
            title: 'scheduler',
            description: 'An enumeration.',
            type: 'string',
            enum: ['DDIM', 'K_EULER'],
          },
        },
      },
      properties: {
        image: { title: 'Image', type: 'string', format: 'uri', 'x-order': 0, description: 'An image.' },
        scheduler: { allOf: [{ $ref: '#/components/schemas/scheduler' }], default: 'DDIM', 'x-order': 1 },
        seed: { title: 'Seed', type: 'integer', nullable: true, 'x-order': 2 },
        token: { title: 'Token', type: 'string', format: 'password', writeOnly: true, 'x-cog-secret': true },
      },
    },
    [{ image, scheduler: 'K_EULER', seed: null, token: 'x' }],
    [{ image, scheduler: 'none' }, { image: 'no uri' }],
  ],
  [
    'fal',
    {
      title: 'Input',
      type: 'object',
      'x-fal-order-properties': ['prompt', 'image_url', 'num_images'],
      required: ['prompt'],
      properties: {
        prompt: { title: 'Prompt', type: 'string', maxLength: 5, examples: ['a'], ui: { important: true } },
        image_url: { title: 'Image Url', type: 'string', ui: { field: 'image' }, 'x-fal-file-input': true },
        num_images: { title: 'Num Images', type: 'integer', minimum: 1, maximum: 4, default: 1 },
      },
    },
    [{ prompt: 'a', image_url: image, num_images: 4 }],
    [{ prompt: 'too long' }, { prompt: 'a', num_images: 5 }],
  ],
])('accepts the schemas of %s, with their annotations', (_, schema, valid, invalid) => {
  const { validate } = new InputSchemas().compile(schema);
  expect(valid.map((input) => validate(input))).toEqual(valid.map(() => []));
  for (const input of invalid) expect(validate(input)).not.toEqual([]);
});

it.each([
  ['maxLength', '👍👍', undefined],
  ['maxLength', '👍👍👍', 'must have at most 2 characters'],
  ['maxLength', 'abc', 'must have at most 2 characters'],
  ['minLength', '👍', 'must have at least 2 characters'],
  ['minLength', '👍👍', undefined],
  ['minLength', 'ab', undefined],
])('%s: 2 counts the characters of %s, not their code units', (keyword, text, message) => {
  const errors = check({ properties: { text: { type: 'string', [keyword]: 2 } } }, JSON.stringify({ text }));
  expect(errors.map((error) => error.message)).toEqual(message === undefined ? [] : [message]);
});
