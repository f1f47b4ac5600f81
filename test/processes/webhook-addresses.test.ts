import { AddressRule } from '../../src/addresses/address-rule.js';
import { Resolver } from '../../src/addresses/resolver.js';
import { problemOf } from '../support/queue-calls.js';
import { testWebhooks } from '../support/test-webhooks.js';
import { parseAllowedAddresses } from '../../src/config/allowed-addresses.js';
import { Config } from '../../src/config/config.js';

const { service, calls, receiver, hooks } = testWebhooks({
  webhookAllow: parseAllowedAddresses('127.0.0.1,named.example'),
});

/** Makes the name resolve to these addresses, the next list at each look-up. Other names do not exist. */
function resolveTo(known: string, ...answers: string[][]): string[] {
  const asked: string[] = [];
  service.app.get(Resolver).resolve = (name) => {
    if (name !== known) return Promise.reject(Object.assign(new Error(name), { code: 'ENOTFOUND' }));
    asked.push(name);
    const addresses = answers.length > 1 ? answers.shift()! : answers[0]!;
    return Promise.resolve(addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })));
  };
  return asked;
}

describe('a submission whose webhook may not be called is refused', () => {
  test.each([
    ['http://example.com/hook', 'must begin with https://'],
    ['http://192.0.2.7/', 'must begin with https://'],
    ['https://user:secret@example.com/', 'must not have a user name or password'],
    ['https://user@example.com/', 'must not have a user name or password'],
    ['https://example.com:0/', 'must not have port 0'],
    ['https://app.localhost/', 'must go to a public address'],
    [`https://${'a.'.repeat(127)}example/`, 'must not have a host name of more than 253 characters'],
    [`https://${'語.'.repeat(40)}example/`, 'must not have a host name of more than 253 characters'],
    [`https://example.com/${'é'.repeat(1_100)}`, 'must not be longer than 2048 bytes'],
    ['https://10.0.0.1/', 'must go to a public address'],
    ['https://169.254.169.254/latest/meta-data', 'must go to a public address'],
    ['https://127.0.0.2/', 'must go to a public address'],
    ['https://0/', 'must go to a public address'],
    ['https://2130706434/', 'must go to a public address'],
    ['https://0x7f.2/', 'must go to a public address'],
    ['https://0177.0.0.2/', 'must go to a public address'],
    ['https://127.2/', 'must go to a public address'],
    ['https://１２７.0.0.2/', 'must go to a public address'],
    ['https://[::1]/', 'must go to a public address'],
    ['https://[::ffff:10.0.0.1]/', 'must go to a public address'],
    ['https://[64:ff9b::a00:1]/', 'must go to a public address'],
    ['https://[2002:a00:1::]/', 'must go to a public address'],
    ['https://[fe80::1]/', 'must go to a public address'],
  ])('%s', async (url, reason) => {
    const answer = await service.submit(`test/hook?webhook=${encodeURIComponent(url)}`, {});
    expect(answer.status).toBe(400);
    const problem = await problemOf(answer);
    expect(problem.code).toBe('invalid_query');
    expect(problem.detail).toContain(reason);
    expect(problem.detail).not.toContain('secret');
    // A user name, port 0 and a long URL are allowed nowhere.
    expect(problem.detail.includes('WEBHOOK_ALLOW')).toBe(!/user name|port 0|more|longer/.test(reason));
  });
});

test.each([
  'https://example.com/',
  'https://93.184.215.14:8443/a?b=c',
  'http://named.example/',
  'http://127.0.0.1:1/',
])('%s may be called', async (url) => {
  const answer = await service.submit(`test/hook?webhook=${encodeURIComponent(url)}&delay=1h`, {});
  expect(answer.status).toBe(202);
});

test.each(['https://localhost/', 'https://LOCALHOST./', 'http://localhost/', 'http://127.0.0.1/'])(
  '%s may not be called where WEBHOOK_ALLOW does not name it',
  (url) => expect(new AddressRule(new Config(), new Resolver()).refusalOf(url)).toMatch(/^must /),
);

/** Completes a request whose webhook goes to this URL, and returns the error of its first try. */
async function failureAt(url: string): Promise<string | null> {
  const id = await calls.run(`test/hook?webhook=${encodeURIComponent(url)}`);
  return (await hooks.only(id, 'pending')).tries[0]!.error;
}

describe('a name that resolves to no allowed address is not called', () => {
  test.each([
    [['10.0.0.1']],
    [['127.0.0.2', '192.168.0.1']],
    [['169.254.169.254']],
    [['::1', 'fd00::1']],
    [['::ffff:127.0.0.2']],
    [['64:ff9b::7f00:2']],
  ])('%j', async (addresses) => {
    resolveTo('hooks.example.com', addresses);
    expect(await failureAt('https://hooks.example.com/')).toBe(
      'Its name has no address that webhooks may be sent to, unless the setting WEBHOOK_ALLOW names it.',
    );
  });

  test('even if it resolved to one at the try before', async () => {
    hooks.terms.delaysMs = [1];
    const asked = resolveTo('rebound.example', ['127.0.0.1'], ['127.0.0.2']);
    receiver.answer = ({ response }) => void response.writeHead(500, { connection: 'close' }).end();
    const id = await calls.run(
      `test/hook?webhook=${encodeURIComponent(`https://rebound.example:${receiver.port}/`)}`,
    );
    const { tries } = await hooks.only(id, 'failed', 2);
    expect(asked).toEqual(['rebound.example', 'rebound.example']);
    // The first address accepted the connection, but does not speak TLS.
    expect(tries[0]!.error).toContain('The connection could not be made, or broke');
    expect(tries[1]!.error).toContain('has no address that webhooks may');
  });
});

test('the connection goes to the checked address, because a name is resolved once per try', async () => {
  const asked = resolveTo('named.example', ['127.0.0.1'], ['203.0.113.1']);
  const id = await calls.run(
    `test/hook?webhook=${encodeURIComponent(`http://named.example:${receiver.port}/once`)}`,
  );
  await receiver.arrived('/once');
  await hooks.only(id, 'delivered');
  expect(asked).toEqual(['named.example']);
});

test('an address is not called once WEBHOOK_ALLOW no longer names it', async () => {
  const [key] = await service.query<{ id: string }>('SELECT id FROM api_key');
  await service.query(
    `INSERT INTO webhook_endpoint (id, api_key_id, url) VALUES (gen_random_uuid(), $1, 'http://127.0.0.9/')`,
    [key!.id],
  );
  const id = await calls.run('test/hook');
  const { tries } = await hooks.only(id, 'pending');
  expect(tries[0]!.error).toBe(
    'The URL is no longer called: it must begin with https://, unless the setting WEBHOOK_ALLOW names its host.',
  );
});
