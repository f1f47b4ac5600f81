import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import type { Queries } from '../../database/statement.js';
import { Batcher } from '../../tools/batcher.js';
import {
  type FileUse,
  holdFiles,
  releaseFiles,
  useFilesInInputs,
  useFilesInOutput,
} from './queries/use-files.js';

/** In JSON a slash may be written as `\/`. */
const named = /v1\\?\/files\\?\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/g;
const hint = '/files';
const hintBytes = Buffer.from(hint);

/** The only cost of a payload without files: one search for a few bytes. */
export function mayNameFiles(payload: Buffer | string): boolean {
  return typeof payload === 'string' ? payload.includes(hint) : payload.includes(hintBytes);
}

/** Length that is searched before other calls get their turn. */
const windowLength = 512 * 1024;
/** At least as long as what `named` matches, because a match may lie across the end of a window. */
const overlap = 64;

/** Returns the ids of all that look like files of this service. */
async function filesIn(payload: Buffer | string): Promise<string[]> {
  const ids = new Set<string>();
  for (let from = 0; from < payload.length; from += windowLength) {
    if (from > 0) await nextTurn();
    const part =
      typeof payload === 'string'
        ? payload.slice(from, from + windowLength + overlap)
        : payload.subarray(from, from + windowLength + overlap);
    const text = typeof part === 'string' ? part : part.toString('latin1');
    for (const [, id] of text.matchAll(named)) ids.add(id!);
  }
  return [...ids];
}

interface Input {
  id: string;
  keyId: string;
  input: Buffer;
}

/** Records which requests name which files, so that a file is deleted with the last payload that names it. */
@Injectable()
export class FileUses {
  private readonly named: Batcher<FileUse[], void>;

  constructor(private readonly database: Database) {
    this.named = new Batcher(
      (uses) => useFilesInInputs(database, uses.flat()).then(() => uses.map(() => undefined)),
      { maxItems: 256, maxWeight: 10_000, weigh: ({ length }) => length, writers: 2 },
    );
  }

  /** Called before the requests are written. The use of a request that is never written is found to be over later. */
  async ofInputs(items: readonly Input[]): Promise<void> {
    const uses: FileUse[] = [];
    for (const { id, keyId, input } of items.filter((item) => mayNameFiles(item.input)))
      for (const fileId of await filesIn(input)) uses.push({ requestId: id, keyId, fileId });
    if (uses.length > 0) await this.named.add(uses);
  }

  /**
   * Keeps files of a key while a batch needs them, from the commit of `queries` on. Returns false if a file is not
   * there, or is of another key.
   */
  ofBatch(queries: Queries, batchId: string, keyId: string, fileIds: readonly string[]): Promise<boolean> {
    return holdFiles(queries, batchId, keyId, fileIds);
  }

  /** The batch needs one file, or all of its files, no more. */
  endOfBatch(queries: Queries, batchId: string, fileId?: string): Promise<void> {
    return releaseFiles(queries, batchId, fileId);
  }

  /** Called before the run completes its request; may be repeated. A run without its lease uses no files. */
  async ofOutput(run: { requestId: string; token: string }, output: string | Buffer): Promise<void> {
    const ids = await filesIn(output);
    if (ids.length > 0) await useFilesInOutput(this.database, run, ids);
  }
}
