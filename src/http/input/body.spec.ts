import { flag, listOf, oneOf, orLeftOut, orNull, text, whole } from '../../tools/rules.js';
import { BodySchema, object, options, readBody } from './body.js';
import { Option, RequiredOption } from './option.js';

@BodySchema({ name: 'Part', description: 'A part.', unknown: null })
class Part {
  @RequiredOption(text, 'A name.') name!: string;
  @Option(orLeftOut(whole(1, 9)), 'A count.') count: number | undefined;
}

class Filter {
  @Option(oneOf(['new', 'old']), 'An age.') age: string | undefined;
}

@BodySchema({ name: 'Whole', description: 'A whole.', examples: { one: { parts: [{ name: 'a' }] } } })
class Whole {
  @RequiredOption(listOf(object(Part), 2), 'Parts.') parts!: readonly Part[];
  @Option(orNull(whole(1, 5)), 'A limit.') limit: number | null | undefined;
  @Option(orLeftOut(options(Filter)), 'A filter.') filter: Filter | undefined;
  @Option(flag, 'A flag.') flag = true;
}

@BodySchema({
  name: 'Either',
  description: 'One of two.',
  examples: { a: { a: 'x' }, b: { b: 'y' } },
  oneOf: ['a', 'b'],
  unknown: 'bad_request',
})
class Either {
  @Option(text, 'One.') a: string | undefined;
  @Option(text, 'The other.') b: string | undefined;
}

const readWhole = (body: object) => readBody(Whole, Buffer.from(JSON.stringify(body)));
const readEither = (body: object) => readBody(Either, Buffer.from(JSON.stringify(body)));

it('reads the members that have a rule, and uses the defaults of missing members', () => {
  const parts = [{ name: 'a', count: null, other: 1 }];
  expect(readWhole({ parts, limit: null, filter: { age: 'new' } })).toEqual({
    parts: [{ name: 'a', count: undefined }],
    limit: null,
    filter: { age: 'new' },
    flag: true,
  });
});

it.each([
  [{}, 'bad_request', 'The option "parts": expected a list of 1 to 2 entries.'],
  [{ parts: [] }, 'bad_request', 'The option "parts": expected a list of 1 to 2 entries.'],
  [{ parts: [1] }, 'bad_request', 'The option "parts[0]": expected an object.'],
  [{ parts: [{ name: 'a' }, {}] }, 'bad_request', 'The option "parts[1].name": expected one text, once.'],
  [
    { parts: [{ name: 'a', count: 0 }] },
    'bad_request',
    '"parts[0].count": expected a whole number from 1 to 9.',
  ],
  [{ parts: [{ name: 'a' }], limit: 6 }, 'bad_request', '"limit": expected a whole number from 1 to 5.'],
  [{ parts: [{ name: 'a' }], flag: null }, 'bad_request', '"flag": expected true or false.'],
  [{ parts: [{ name: 'a' }], filter: [] }, 'bad_request', '"filter": expected an object.'],
  [{ parts: [{ name: 'a' }], filter: { age: 'x' } }, 'invalid_query', '"age": expected one of new, old.'],
  [{ parts: [{ name: 'a' }], filter: { agee: 'new' } }, 'invalid_query', 'did you mean "age"?'],
  [{ parts: [{ name: 'a' }], limits: 1 }, 'invalid_query', 'did you mean "limit"?'],
])('%j is refused as %s', (body, code, detail) => {
  expect(() => readWhole(body)).toThrow(
    expect.objectContaining({ code, message: expect.stringContaining(detail) as string }),
  );
});

it('accepts exactly one of two exclusive members, and refuses unknown members with the code of its class', () => {
  expect(readEither({ a: 'x' })).toEqual({ a: 'x' });
  for (const body of [{}, { a: 'x', b: 'y' }, { a: null }])
    expect(() => readEither(body)).toThrow('Give either "a" or "b": {"a":"x"} or {"b":"y"}.');
  expect(() => readEither({ a: 'x', c: 1 })).toThrow(expect.objectContaining({ code: 'bad_request' }));
});
