import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { Batcher } from '../tools/batcher.js';
import { type FileUse, useFilesInInputs, useFilesInOutput } from './queries/use-files.js';

/** In JSON a slash may be written as `\/`. */
const named = /v1\\?\/files\\?\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/g;
const hint = '/files';
const hintBytes = Buffer.from(hint);

/** All that a payload without files pays: one search for a few bytes. */
export function mayNameFiles(payload: Buffer | string): boolean {
  return typeof payload === 'string' ? payload.includes(hint) : payload.includes(hintBytes);
}

/** The ids of all that look like files of ours. */
function filesIn(payload: Buffer | string): string[] {
  const text = typeof payload === 'string' ? payload : payload.toString('latin1');
  return [...new Set(Array.from(text.matchAll(named), ([, id]) => id!))];
}

interface Input {
  id: string;
  keyId: string;
  input: Buffer;
}

/** Which requests name which files, so that a file goes with the last payload that does. */
@Injectable()
export class FileUses {
  private readonly named: Batcher<FileUse[], void>;

  constructor(private readonly database: Database) {
    this.named = new Batcher(
      (uses) => useFilesInInputs(database, uses.flat()).then(() => uses.map(() => undefined)),
      { maxItems: 256, maxWeight: 10_000, weigh: ({ length }) => length, writers: 2 },
    );
  }

  /** Before the requests are written: a use of one that never is will be found to be over. */
  async ofInputs(items: readonly Input[]): Promise<void> {
    const uses = items
      .filter(({ input }) => mayNameFiles(input))
      .flatMap(({ id, keyId, input }) => filesIn(input).map((fileId) => ({ requestId: id, keyId, fileId })));
    if (uses.length > 0) await this.named.add(uses);
  }

  /** Before the request completes; may be repeated. */
  async ofOutput(requestId: string, output: string | Buffer): Promise<void> {
    const ids = filesIn(output);
    if (ids.length > 0) await useFilesInOutput(this.database, requestId, ids);
  }
}
