import type { Files, FileView } from '../files/files.js';
import { DomainError } from '../errors/domain-error.js';
import type { Received } from '../files/stores/file-store.js';
import { StorageUnavailable } from '../files/stores/storage-error.js';
import type { Chunks } from '../outgoing/answer-body.js';
import { ResultUnstored, type Run, RunFailure } from '../queue/runs/runner.js';

/** A file of an output whose bytes have all come. It is stored or discarded. */
export interface MadeFile {
  readonly part: Received;
  readonly contentType: string;
  readonly fileName: string | undefined;
}

/** Receives a file that a model makes. Consumes the chunks. */
export async function receiveFile(
  files: Files,
  { memory }: Run,
  chunks: Chunks | readonly Buffer[],
  contentType: string,
  fileName?: string,
): Promise<MadeFile> {
  try {
    return { part: await files.receive(inTurn(chunks), memory), contentType, fileName };
  } catch (error) {
    if (error instanceof StorageUnavailable) throw new ResultUnstored(error.message, error);
    if (error instanceof DomainError && error.code === 'body_too_large')
      throw new RunFailure(`The model's answer is too large. ${error.message}`);
    throw error;
  }
}

export function storeFile(
  files: Files,
  { requestId, signal }: Run,
  { part, ...file }: MadeFile,
): Promise<FileView> {
  return files.keep(part, file, { requestId, signal });
}

/** Stores a model's whole answer as a file and returns the output that names it. Consumes the chunks. */
export async function keepOutput(
  files: Files,
  run: Run,
  chunks: Chunks | readonly Buffer[],
  contentType: string,
  fileName?: string,
): Promise<{ file: FileView }> {
  const made = await receiveFile(files, run, chunks, contentType, fileName);
  run.made();
  return { file: await storeFile(files, run, made) };
}

async function* inTurn(chunks: Chunks | readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* chunks;
}
