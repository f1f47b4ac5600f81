import type { Files, FileView } from '../files/files.js';
import { DomainError } from '../errors/domain-error.js';
import { type Run, RunFailure } from '../queue/runs/runner.js';

/** Whether an answer of this media type is a file, and not something to read. */
export const isFileType = (type: string): boolean =>
  /^(?:image|audio|video)\//.test(type) || type === 'application/octet-stream';

/** What a model made, as a file: the output that names it. The chunks are used up. */
export async function keepOutput(
  files: Files,
  { requestId }: Pick<Run, 'requestId'>,
  chunks: AsyncIterable<Buffer> | readonly Buffer[],
  contentType: string,
  fileName?: string,
): Promise<{ file: FileView }> {
  try {
    return { file: await files.keep(inTurn(chunks), { requestId, contentType, fileName }) };
  } catch (error) {
    throw error instanceof DomainError ? failureOf(error) : error;
  }
}

async function* inTurn(chunks: AsyncIterable<Buffer> | readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* chunks;
}

function failureOf({ code, message }: DomainError): RunFailure {
  if (code === 'body_too_large') return new RunFailure(`The model's answer is too large. ${message}`);
  return new RunFailure(`The model's answer could not be kept as a file. ${message}`, { retryable: true });
}
