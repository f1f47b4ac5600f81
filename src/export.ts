import 'reflect-metadata';
import type { DataSource } from 'typeorm';
import { commandOf } from './config/package.js';
import { commandLine } from './audit/actor.js';
import { AuditTrail } from './audit/audit-trail.js';
import { AuditEntryEntity } from './audit/entities/audit-entry.entity.js';
import { ApiKey } from './auth/api-key.entity.js';
import { withDatabase } from './command-database.js';
import { runCommandLine } from './command-line.js';
import { loadConfig } from './config/config.js';
import { ClientAddress } from './http/client-address.js';
import { exportedRequests } from './queue/reads/request-export.js';
import { exportLine } from './requests/cli/export-line.js';
import { type ExportCall, exportProgram } from './requests/cli/export-program.js';

/** `npm run export`. Exit code 0: all are printed. 1: failed, with the reason on standard error. 2: wrong usage. */
await runCommandLine(exportProgram(exportAll).exitOverride());

async function exportAll({ since, until, key, model }: ExportCall): Promise<void> {
  const config = loadConfig();
  await withDatabase(config, [ApiKey, AuditEntryEntity], async (rows, signal) => {
    const options = { sinceMs: since, untilMs: until, keyIds: await keysOf(rows, key), model };
    const trail = new AuditTrail(rows, new ClientAddress(config));
    const after = { since: toTime(since), until: toTime(until), key, model };
    await trail.note(commandLine, { action: 'payload.read', target: 'export', after });
    let count = 0;
    for await (const row of exportedRequests(rows, options, signal)) {
      await print(exportLine(row));
      count++;
    }
    process.stderr.write(`Exported ${count} requests.\n`);
  });
}

function toTime(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString();
}

/** Returns the ids of all keys with this id, prefix or name. undefined: requests of any key are asked for. */
async function keysOf(rows: DataSource, text: string | undefined): Promise<string[] | undefined> {
  if (text === undefined) return undefined;
  const keys = await rows.getRepository(ApiKey).find({ select: { id: true, prefix: true, name: true } });
  const ids = keys.filter(({ id, prefix, name }) => [id, prefix, name].includes(text)).map(({ id }) => id);
  if (ids.length === 0) throw new Error(`There is no key "${text}". List them: ${commandOf('keys', 'list')}`);
  return ids;
}

/** Waits until the output has taken the line, so that a slow reader slows down the reads of the database. */
function print(line: string): Promise<void> {
  return new Promise((done, fail) => {
    process.stdout.write(line, (error) => {
      if (!error) return done();
      const { code = 'error' } = error as NodeJS.ErrnoException;
      fail(new Error(`The output cannot be written (${code}), so the export is not complete.`));
    });
  });
}
