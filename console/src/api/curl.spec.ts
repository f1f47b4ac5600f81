import { execFileSync } from 'node:child_process';
import { curlOf } from './curl';

test.each([
  ['a list', { path: "v1/admin/requests?tag=it's:1&limit=50" }],
  ['a body', { method: 'POST', path: 'v1/admin/operations', body: { reason: `it's "$HOME" \\ \`id\`` } }],
  ['another method', { method: 'PATCH', path: 'v1/admin/models/a', body: { paused: 'hold' } }],
  ['a stream', { path: 'v1/admin/events', stream: true }],
])('a shell reads %s as it was meant', (_what, call) => {
  const script = `curl() { printf '%s\\0' "$@"; }; KEY=k; ${curlOf(call, 'http://127.0.0.1/')}`;
  const said = execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1);
  expect(said).toContain(`http://127.0.0.1/${call.path}`);
  expect(said).toContain('Authorization: Key k');
  if ('body' in call) expect(said).toContain(JSON.stringify(call.body));
  expect(said.includes('-X')).toBe('method' in call && call.method === 'PATCH');
  expect(said.includes('-N')).toBe('stream' in call);
});
