import { adapters } from '../../src/config/adapter.js';
import { Allowances } from '../../src/allowances/allowances.js';
import { type RawAnswer, send } from '../support/hostile-client.js';
import { testQueue } from '../support/test-queue.js';

const maxBodyBytes = 1.2 * 1024 ** 2;
const { service } = testQueue({ limits: 'off', config: { adapters: [...adapters], maxBodyBytes } });

const model = 'demo/text/echo';
const forms = ['/openai/v1/audio/transcriptions', '/openai/v1/files', '/replicate/v1/files'];

type Part = readonly [head: string, value: string];

const named = (name: string, value: string, more = ''): Part => [
  `Content-Disposition: form-data; name="${name}"${more}`,
  value,
];
const formOf = (parts: readonly Part[]): string =>
  `${parts.map(([head, value]) => `--x\r\n${head}\r\n\r\n${value}\r\n`).join('')}--x--\r\n`;

function postForm(path: string, parts: readonly Part[]): Promise<RawAnswer> {
  const body = formOf(parts);
  const fields = [
    'Host: a',
    'Connection: close',
    `Authorization: Bearer ${service.key}`,
    'Content-Type: multipart/form-data; boundary=x',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return send(service, `POST ${path} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n`, Buffer.from(body));
}

const nameless = 'Content-Disposition: form-data';
const big = 'a'.repeat(1024 ** 2 + 1);

describe.each(forms)('a form for %s', (path) => {
  test.each<[string, Part]>([
    ['a field without a name', [nameless, 'a']],
    ['a field with an empty name', named('', 'a')],
    ['a long field without a name', [nameless, big]],
    ['a file without a name', [`${nameless}; filename="a"`, 'a']],
    ['a long file without a name', [`${nameless}; filename="a"`, big]],
  ])('with %s is refused', async (_, part) => {
    const answer = await postForm(path, [named('model', model), part]);
    expect([answer.status, answer.body]).toEqual([400, expect.stringContaining('has no name')]);
  });

  test('is refused with 413 when its fields together exceed 2 MiB', async () => {
    const fields = ['a', 'b', 'c'].map((name) => named(name, 'a'.repeat(1024 ** 2 - 1)));
    const answer = await postForm(path, [named('model', model), ...fields]);
    expect([answer.status, answer.body]).toEqual([413, expect.stringContaining('too long together')]);
  });

  test('charges the bytes of its fields to the allowance of the caller', async () => {
    const allowances = service.app.get(Allowances);
    const { take } = allowances;
    let taken = 0;
    allowances.take = (caller, resource, amount) => {
      if (resource === 'bytes') taken += amount;
      return take.call(allowances, caller, resource, amount);
    };
    try {
      await postForm(path, [named('model', model), named('a', 'a'.repeat(1024 ** 2 - 1))]);
    } finally {
      Reflect.deleteProperty(allowances, 'take');
    }
    expect(taken).toBeGreaterThan(1024 ** 2);
  });
});

test('the input made from a form is subject to the size limit of request bodies', async () => {
  const fields = ['a', 'b'].map((name) => named(name, 'a'.repeat(900_000)));
  const answer = await postForm(forms[0]!, [named('model', model), ...fields]);
  expect([answer.status, answer.body]).toEqual([413, expect.stringContaining('body_too_large')]);
});

test('a field that is sent as a single value and as a list becomes one list', async () => {
  const parts = [named('model', model), named('a', 'xyz'), named('a[]', 'b')];
  const answer = await postForm(forms[0]!, parts);
  expect(JSON.parse(answer.body)).toEqual({ model, a: ['xyz', 'b'] });
});
