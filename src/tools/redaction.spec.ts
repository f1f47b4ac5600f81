import { runInNewContext } from 'node:vm';
import { Redaction } from './redaction.js';

const id = '01890c3e-5f7a-7b1c-8d2e-0123456789ab';
const redaction = new Redaction({
  DATABASE_URL: 'postgres://app:12/34secret@db/queue',
  SECRETS_KEY: 'abc"def\\ghi',
});
redaction.useHandles(() => 'rh_handle');

it.each([
  [`request ${id} failed`, 'request rh_handle failed'],
  [`/v1/queue/requests/${id}/status`, '/v1/queue/requests/rh_handle/status'],
  ['see http://host/v1/files/0189-x/cat.png now', 'see http://host/v1/files/… now'],
  ['PUT /v1/storage/uploads/0189?signature=x failed', 'PUT /v1/storage/uploads/… failed'],
  ['http://user:pa/s#s@host/x answered', 'http://…@host/x answered'],
  ['from a://u:p@h, b://x to c://d:e@f', 'from a://…@h, b://x to c://…@f'],
  ['a://u:p@h,b://v:q@i', 'a://…@i'],
  ['http://127.0.0.1/console#link=abc-_1', 'http://127.0.0.1/console#link=…'],
  [`key ns_${'a'.repeat(43)}`, 'key ns_…'],
  ['signed with whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'signed with whsec_…'],
  ['ENOENT: open /data/files/0a/0aa31f3e-5f7a-4b1c-8d2e-0123456789ab.1', 'ENOENT: open /data/files/0a/….1'],
  ['getaddrinfo ENOTFOUND 12/34secret', 'getaddrinfo ENOTFOUND …'],
  ['wrong: abc"def\\ghi', 'wrong: …'],
  [JSON.stringify({ msg: 'wrong: abc"def\\ghi' }), '{"msg":"wrong: …"}'],
])('%s is shown as %s', (text, shown) => expect(redaction.text(text)).toBe(shown));

it.each(['deliveryId', 'endpointId', 'keyId', 'nodeId', 'operationId', 'sessionId'])(
  'the id in %s is not the id of a request, and stays',
  (member) => expect(redaction.text(`{"${member}":"${id}"}`)).toBe(`{"${member}":"${id}"}`),
);

it('hides ids while there are no handles', () => {
  expect(new Redaction().text(`request ${id}`)).toBe('request rh_…');
});

it('shows handles as soon as there are handles, even in a path that it has shown before', () => {
  const own = new Redaction();
  const path = `/v1/queue/requests/${id}`;
  expect(own.path(path)).toBe('/v1/queue/requests/rh_…');
  own.useHandles(() => 'rh_handle');
  expect(own.path(path)).toBe('/v1/queue/requests/rh_handle');
});

it('hides the secrets of models, also those that a run may still use after a reload', () => {
  const own = new Redaction();
  own.setModelSecrets(['model-token', 'short']);
  expect(own.text('model-token and short')).toBe('… and short');
  own.setModelSecrets(['new-token']);
  own.setModelSecrets(['new-token']);
  expect(own.text('model-token and new-token')).toBe('… and …');
});

it('hides all current secrets of models, and a thousand earlier ones', () => {
  const own = new Redaction();
  const many = Array.from({ length: 2_000 }, (_, at) => `token-${at}-`);
  own.setModelSecrets(many);
  expect(own.text('token-0- and token-1999-')).toBe('… and …');
  own.setModelSecrets(['new-token']);
  expect(own.text('token-999- and token-1000- and new-token')).toBe('… and token-1000- and …');
});

describe('a path', () => {
  it.each([
    [`/v1/queue/requests/${id}`, '/v1/queue/requests/rh_handle'],
    [`/v1/queue/requests/${id.replaceAll('-', '%2D')}`, '/v1/queue/requests/rh_handle'],
    [`/fal/acme/model/requests/${id}/status`, '/fal/acme/model/requests/rh_handle/status'],
    [`/v1/worker/runs/${id}/output`, '/v1/worker/runs/rh_handle/output'],
    [`/v1/admin/requests/${id}/input`, '/v1/admin/requests/rh_handle/input'],
    [`/v1/admin/keys/${id}`, `/v1/admin/keys/${id}`],
    ['/v1/files/x/cat.png', '/v1/files/…'],
    ['//v1/files/x/cat.png', '//v1/files/…'],
    ['/behind/v1/storage/uploads/x', '/behind/v1/storage/uploads/…'],
    [`/v1/queue/requests/${id}/whsec_abc`, '/v1/queue/requests/rh_handle/whsec_…'],
    ['/v1/queue/acme/image', '/v1/queue/acme/image'],
    ['/v1/%zz', '/v1/%zz'],
  ])('%s is logged as %s', (path, logged) => expect(redaction.path(path)).toBe(logged));
});

it.each([
  ['a scheme', `${'a'.repeat(300_000)}@`],
  ['schemes', 'a://'.repeat(100_000)],
])('the time for a path that looks like %s does not grow with the square of its length', (_, text) => {
  const path = (): string => redaction.path(`/${text}%41`);
  expect(runInNewContext('path()', { path }, { timeout: 10_000 })).toBe(`/${text}A`);
});
