import type { IncomingMessage, ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { validate as isUuid } from 'uuid';
import type { Actor } from '../audit/actor.js';
import { AuditTrail } from '../audit/audit-trail.js';
import { CallerWatch } from '../auth/caller-watch.js';
import { Handles } from '../auth/handles.js';
import { Database } from '../database/database.js';
import { DomainError } from '../errors/domain-error.js';
import { Files } from './files.js';
import {
  deleteKeptFile,
  findKeptFile,
  isPlaceOfFile,
  keepFile,
  type KeptFile,
  type KeptFilesPage,
  listKeptFiles,
} from './queries/kept-files.js';
import { sendFile } from './send-file.js';

export type { KeptFile } from './queries/kept-files.js';

/** Files that a key keeps for a purpose, until it deletes them or their time is over. */
@Injectable()
export class KeptFiles {
  constructor(
    private readonly database: Database,
    private readonly files: Files,
    private readonly trail: AuditTrail,
    private readonly handles: Handles,
    private readonly watch: CallerWatch,
  ) {}

  /** `seconds`: how long a stored file is kept after its creation. null: until it is deleted. */
  async keep(id: string, purpose: string, seconds: number | null): Promise<KeptFile> {
    const kept = await keepFile(this.database, id, purpose, seconds);
    if (kept === undefined) throw unknownFile();
    return kept;
  }

  async find(id: string, keyId: string): Promise<KeptFile> {
    const file = isUuid(id) ? await findKeptFile(this.database, id, keyId) : undefined;
    if (file === undefined) throw unknownFile();
    return file;
  }

  async list(page: KeptFilesPage): Promise<KeptFile[]> {
    const { after, keyId } = page;
    if (after !== null && !isUuid(after)) throw unknownFile();
    const found = await listKeptFiles(this.database, page);
    // An empty page would be taken for the last one.
    if (found.length === 0 && after !== null && !(await isPlaceOfFile(this.database, after, keyId)))
      throw unknownFile();
    return found;
  }

  async send(id: string, keyId: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { name } = await this.find(id, keyId);
    const file = await this.files.find(id, name);
    if (file === undefined) throw unknownFile();
    this.watch.bind(response);
    await sendFile(this.files, file, request, response);
  }

  /** The id of a file is the right to read it, so the audit has its handle. */
  async delete(id: string, keyId: string, actor: Actor): Promise<void> {
    if (!isUuid(id)) throw unknownFile();
    const note = { action: 'file.delete', target: this.handles.handleOf(id) } as const;
    await this.database.transaction(async (query) => {
      if (!(await deleteKeptFile({ query }, id, keyId))) throw unknownFile();
      await this.trail.writeBy({ query }, actor, note);
    });
  }
}

function unknownFile(): DomainError {
  return new DomainError('unknown_file', 'There is no such file, or it belongs to another key.');
}
