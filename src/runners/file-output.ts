import type { Files, FileView } from '../files/files.js';
import { DomainError } from '../errors/domain-error.js';
import { StorageUnavailable } from '../files/stores/storage-error.js';
import { ResultUnstored, type Run, RunFailure } from '../queue/runs/runner.js';

/** Stores a model's answer as a file and returns the output that names it. Consumes the chunks. */
export async function keepOutput(
  files: Files,
  run: Run,
  chunks: AsyncIterable<Buffer> | readonly Buffer[],
  contentType: string,
  fileName?: string,
): Promise<{ file: FileView }> {
  const { requestId, memory, signal } = run;
  const maker = { requestId, memory, signal, made: () => run.made() };
  try {
    return { file: await files.keep(inTurn(chunks), { contentType, fileName }, maker) };
  } catch (error) {
    if (error instanceof StorageUnavailable) throw new ResultUnstored(error.message, error);
    if (error instanceof DomainError && error.code === 'body_too_large')
      throw new RunFailure(`The model's answer is too large. ${error.message}`);
    throw error;
  }
}

async function* inTurn(chunks: AsyncIterable<Buffer> | readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* chunks;
}
