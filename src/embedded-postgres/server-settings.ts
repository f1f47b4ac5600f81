import { totalmem } from 'node:os';

const memory = Math.min(totalmem(), process.constrainedMemory() || Infinity);

/**
 * An eighth of this process's memory, between PostgreSQL's default and the needs of a busy minute's requests. With 128
 * MB, the pages of the latest requests are written out and read again before those requests end.
 */
const sharedBuffersMb = Math.max(128, Math.min(512, Math.floor(memory / 8 / 1024 ** 2)));

/** The settings of the embedded server, besides its directory and port. */
export const serverSettings: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  // The narrow tables need a vacuum soon after an old snapshot has ended. The default is one minute.
  autovacuum_naptime: '10s',
  shared_buffers: `${sharedBuffersMb}MB`,
};
