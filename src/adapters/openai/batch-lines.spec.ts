import { maxInlineBytes } from '../../models/input-schemas.js';
import { DomainError } from '../../errors/domain-error.js';
import type { ProblemCode } from '../../errors/problem-codes.js';
import type { JsonThreads } from '../../json/json-threads.js';
import { openAiLines } from './batch-lines.js';

/** Threads that can read nothing. */
const failing = (code: ProblemCode): JsonThreads =>
  ({ run: () => Promise.reject(new DomainError(code, 'No.')) }) as unknown as JsonThreads;

const id = '01a220f1-a270-73a4-a02a-6394f6a844ff';
const output = JSON.stringify({ object: 'response', note: 'a'.repeat(maxInlineBytes) });
const written = (code: ProblemCode): string | Promise<string> =>
  openAiLines.output(
    { customId: 'one', requestId: id, output, completedAtMs: 1 },
    { id, modelId: 'acme/response', metadata: { endpoint: '/v1/responses' } },
    failing(code),
  );

test('a response that is too large for a JSON thread is written unchanged', async () => {
  const line = JSON.parse(await written('too_large')) as object;
  expect(line).toMatchObject({ custom_id: 'one', response: { body: JSON.parse(output) as object } });
});

test('writing a response fails with unavailable while no JSON thread is available', async () => {
  await expect(written('unavailable')).rejects.toMatchObject({ code: 'unavailable' });
});
