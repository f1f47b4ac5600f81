import { Handles } from '../../src/auth/handles.js';
import { keyHeader } from '../support/queue-calls.js';
import { testQueue } from '../support/test-queue.js';

const { service } = testQueue({ config: { adapters: ['openai', 'replicate'] } });

/** Uploads a file in a form, and returns its id. */
async function upload(path: string, field: string): Promise<string> {
  const form = new FormData();
  form.append(field, new Blob(['a cat'], { type: 'text/plain' }), 'cat.txt');
  form.append('purpose', 'batch');
  const answer = await fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: keyHeader(service.key),
    body: form,
  });
  expect(answer.ok).toBe(true);
  return ((await answer.json()) as { id: string }).id;
}

test.each([
  ['openai', '/openai/v1/files', 'file'],
  ['replicate', '/replicate/v1/files', 'content'],
])('a file that a caller of %s deletes is audited once, by its handle', async (_api, path, field) => {
  const id = await upload(path, field);
  const remove = (): Promise<Response> =>
    fetch(`${service.url}${path}/${id}`, { method: 'DELETE', headers: keyHeader(service.key) });
  expect((await remove()).ok).toBe(true);
  expect((await remove()).status).toBe(404);
  const rows = await service.query(
    `SELECT action, target FROM audit_entry WHERE action = 'file.delete' AND target = $1`,
    [service.app.get(Handles).handleOf(id)],
  );
  expect(rows).toHaveLength(1);
});
