import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { databaseError, DatabaseUnavailable } from '../errors/database-error.js';
import { describeDatabase } from './describe-database.js';
import { refuseWithoutRights } from './rights.js';
import { DatabaseSessions } from './sessions.js';
import { refuseStandby } from './standby.js';

const oldestVersion = 150_000;
const retryMs = 500;
const mixingRounds = 8;
/** How long a start waits for its database. A PostgreSQL that recovers from a crash may need as long. */
const waitAtStartMs = 60_000;

export interface ReachOptions {
  /** Ends the wait. */
  signal?: AbortSignal;
  /** Receives a sentence that names what the start waits for. */
  report?: (sentence: string) => void;
  /** How long the start waits for a database. */
  waitMs?: number;
  /** The service will prepare statements, so a pooler must keep them. */
  preparesStatements?: boolean;
}

/**
 * Waits for the database and checks that the service can use it. It may be late: its host name is not known yet, it
 * refuses connections, it is still starting, or it is a standby that may become the primary.
 */
export async function reachDatabase(
  url: string,
  { signal, report, waitMs = waitAtStartMs, preparesStatements }: ReachOptions = {},
): Promise<DatabaseSessions> {
  const giveUpAt = performance.now() + waitMs;
  for (let isReported = false; ; isReported = true) {
    try {
      return await orAborted(look(url, { report, preparesStatements }), signal);
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof Late)) throw error;
      if (performance.now() >= giveUpAt) throw error;
      if (!isReported)
        report?.(
          `Waiting up to ${Math.round(waitMs / 1_000)} s for the database at ${describeDatabase(url)}: ${error.reason}`,
        );
    }
    await delay(retryMs, undefined, { signal });
  }
}

/** The database may answer later. */
class Late extends Error {
  constructor(
    url: string,
    readonly reason: string,
    cause: unknown,
  ) {
    super(unreachable(url, reason), { cause });
  }
}

const unreachable = (url: string, reason: string): string =>
  `The database at ${describeDatabase(url)} cannot be reached: ${reason}`;

async function look(
  url: string,
  { report, preparesStatements }: Pick<ReachOptions, 'report' | 'preparesStatements'>,
): Promise<DatabaseSessions> {
  const client = await connect(url);
  try {
    await refuseVersion(client, url);
    await refuseEncoding(client, url);
    const sessions = await DatabaseSessions.find(client, url, report);
    await refuseWithoutRights(client, url);
    if (preparesStatements && sessions.isPooled) await refuseMixedStatements(url);
    return sessions;
  } finally {
    await client.end();
  }
}

/** Stops waiting for a read on abort. The read itself may continue, because it changes nothing. */
export function orAborted<T>(look: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal!.reason as Error);
    if (signal?.aborted === true) abort();
    signal?.addEventListener('abort', abort, { once: true });
    void look.then(resolve, reject).finally(() => signal?.removeEventListener('abort', abort));
  });
}

/** Opens a session for the start. It must answer within 10 s. */
export async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 10_000,
    query_timeout: 10_000,
    application_name: 'nowserving',
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await refuseStandby(client);
    return client;
  } catch (cause) {
    await client.end().catch(() => undefined);
    const { message, code = 'no answer' } = cause as NodeJS.ErrnoException;
    const reason = message === '' ? code : message;
    const error = databaseError(cause);
    const isLate =
      error instanceof DatabaseUnavailable && /^(away|restarting|too_many|read_only)/.test(error.fault);
    if (isLate) throw new Late(url, reason, cause);
    throw new Error(`${unreachable(url, reason)}${advice(code, client)}`, { cause });
  }
}

/** SQLSTATE of a role that may not connect to the database, or changes what belongs to another role. */
export const insufficientPrivilege = '42501';

/** Codes of certificates that cannot be verified. */
const untrusted = /^(SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_|CERT_|ERR_TLS_CERT)/;

/** Advice for errors of a connection whose messages contain none. */
function advice(code: string, { user = '', database = '' }: pg.Client): string {
  if (untrusted.test(code))
    return '. Set sslmode and sslrootcert in the URL, as "TLS to PostgreSQL" in docs/postgresql.md has it';
  if (code !== insufficientPrivilege) return '';
  const [role, name] = [pg.escapeIdentifier(user), pg.escapeIdentifier(database)];
  return `. As its owner or a superuser, run: GRANT CONNECT ON DATABASE ${name} TO ${role};`;
}

/**
 * Refuses a pooler that mixes up the prepared statements of its clients. A node behind it would start as long as nobody
 * else uses the pooler, and fail once there is load. Two sessions prepare the same name in turn: on the same connection
 * of the pooler, the name is already taken, and on different ones, it can be missing the next time. A busy pooler may
 * hide it in one round.
 */
async function refuseMixedStatements(url: string): Promise<void> {
  const sessions: pg.Client[] = [];
  try {
    while (sessions.length < 2) sessions.push(await connect(url));
    for (let round = 0; round < mixingRounds; round++) {
      const statement = { name: `start ${randomUUID()}`, text: 'SELECT 1' };
      for (const session of [...sessions, ...sessions])
        await session.query(statement).catch((error: unknown) => {
          throw databaseError(error);
        });
    }
  } finally {
    await Promise.all(sessions.map((session) => session.end()));
  }
}

async function refuseVersion(client: pg.Client, url: string): Promise<void> {
  const { rows } = await client.query<{ version: number; text: string }>(
    `SELECT current_setting('server_version_num')::int AS version, current_setting('server_version') AS text`,
  );
  const { version, text } = rows[0]!;
  if (version >= oldestVersion) return;
  throw new Error(`The database at ${describeDatabase(url)} is PostgreSQL ${text}; 15 or newer is needed.`);
}

async function refuseEncoding(client: pg.Client, url: string): Promise<void> {
  const { rows } = await client.query<{ encoding: string }>(
    `SELECT current_setting('server_encoding') AS encoding`,
  );
  const { encoding } = rows[0]!;
  if (encoding === 'UTF8') return;
  throw new Error(
    `The database at ${describeDatabase(url)} has the encoding ${encoding}, which cannot store every text; UTF8 is ` +
      "needed. Make another: CREATE DATABASE nowserving TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'; and put its " +
      'name into the URL. Nothing was changed.',
  );
}
