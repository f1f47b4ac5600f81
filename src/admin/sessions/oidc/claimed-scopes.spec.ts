import { parseScopeMap } from '../../../config/scopes.js';
import { claimedName, claimedScopes } from './claimed-scopes.js';

const map = parseScopeMap('ops=admin; support=observe,payloads; 7=read; constructor=cancel');

test.each([
  ['one value', { groups: 'ops' }, 'groups', ['admin']],
  [
    'the scopes of all values',
    { groups: ['support', 'ops', 'x'] },
    'groups',
    ['observe', 'payloads', 'admin'],
  ],
  ['a number', { groups: [7] }, 'groups', ['read']],
  ['values that bring nothing', { groups: ['x', null, {}] }, 'groups', []],
  ['no such claim', { other: 'ops' }, 'groups', undefined],
  ['a path', { realm_access: { roles: ['ops'] } }, 'realm_access.roles', ['admin']],
  ['a name with dots', { 'https://a.b/c': 'ops' }, 'https://a.b/c', ['admin']],
  ['what every object inherits', { groups: {} }, 'groups.constructor', undefined],
])('%s', (_, claims, name, scopes) => {
  expect(claimedScopes(claims, name, map)).toEqual(scopes);
});

test.each([
  [{ preferred_username: 'ada', email: 'a@example.org', sub: '1' }, 'ada'],
  [{ preferred_username: ' \n', email: 'a@example.org', sub: '1' }, 'a@example.org'],
  [{ sub: '\u202e1\u0000' }, '1'],
  [{ name: 7 }, 'unnamed'],
])('the claims %j yield the name %s', (claims, name) => {
  expect(claimedName(claims)).toBe(name);
});
