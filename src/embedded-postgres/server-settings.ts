import { totalmem } from 'node:os';

/** What the embedded server is started with, beside its directory and port. */
export const serverSettings: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  // The narrow tables are swept soon after an old snapshot has let go of them; the default is a minute.
  autovacuum_naptime: '10s',
  shared_buffers: `${sharedBuffersMb()}MB`,
};

/**
 * An eighth of what this process may have, between PostgreSQL's default and what the requests of a busy minute need:
 * with 128 MB the pages of those that came last are written and read again before their requests have ended.
 */
function sharedBuffersMb(): number {
  const bytes = Math.min(totalmem(), process.constrainedMemory() || Infinity);
  return Math.max(128, Math.min(512, Math.floor(bytes / 8 / 1024 ** 2)));
}
