import { totalmem } from 'node:os';

const memory = Math.min(totalmem(), process.constrainedMemory() || Infinity);

/**
 * An eighth of what this process may have, between PostgreSQL's default and what the requests of a busy minute need:
 * with 128 MB the pages of those that came last are written and read again before their requests have ended.
 */
const sharedBuffersMb = Math.max(128, Math.min(512, Math.floor(memory / 8 / 1024 ** 2)));

/** What the embedded server is started with, beside its directory and port. */
export const serverSettings: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  // The narrow tables are swept soon after an old snapshot has let go of them; the default is a minute.
  autovacuum_naptime: '10s',
  shared_buffers: `${sharedBuffersMb}MB`,
};
