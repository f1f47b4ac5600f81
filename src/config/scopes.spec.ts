import { parseScopeMap } from './scopes.js';

test.each([
  ['ops=admin', { ops: ['admin'] }],
  [' ops = admin ;support=observe, payloads;', { ops: ['admin'], support: ['observe', 'payloads'] }],
  ['cn=ops,dc=example=admin', { 'cn=ops,dc=example': ['admin'] }],
])('%j is read', (text, map) => {
  expect(Object.fromEntries(parseScopeMap(text))).toEqual(map);
});

test.each(['', ';', 'ops', '=admin', 'ops=', 'ops=root', 'ops=admin,'])('%j is refused', (text) => {
  expect(() => parseScopeMap(text)).toThrow('such as ops=admin; support=observe,payloads');
});
