import pg from 'pg';
import { QueryFailedError } from 'typeorm';
import { DomainError } from './domain-error.js';

/** Why the database cannot run a statement now. */
export type DatabaseFault =
  | 'away'
  | 'disk_full'
  | 'disk_error'
  | 'no_memory'
  | 'too_many_connections'
  | 'no_resources'
  | 'no_descriptors'
  | 'restarting'
  | 'read_only'
  | 'busy';

const details: Readonly<Record<DatabaseFault, string>> = {
  away: 'The database cannot be reached. Try again in a moment.',
  disk_full:
    "The database's disk is full, so nothing can be stored now. The operator has to make room on it.",
  disk_error: 'The database cannot read or write its disk. The operator has to check it.',
  no_memory: 'The database has no memory left. Try again in a moment.',
  too_many_connections:
    'The database accepts no more connections. Try again in a moment; the operator may raise max_connections.',
  no_resources: 'The database is at a limit of its machine. Try again in a moment.',
  no_descriptors:
    'This node is at its limit of open files (ulimit -n), so it cannot reach the database. Try again in a moment.',
  restarting: 'The database is starting or shutting down. Try again in a moment.',
  read_only: 'The database is read-only now, as a standby is. Try again in a moment.',
  busy: 'The database is too busy to answer in time. Try again in a moment.',
};

/** A full disk needs more than a moment. */
const retryAfterSeconds = (fault: DatabaseFault): number =>
  fault === 'disk_full' || fault === 'disk_error' ? 10 : 2;

/** SQLSTATE codes that mean "not now" rather than "never". Source: PostgreSQL's appendix A. */
const faults: readonly (readonly [RegExp, DatabaseFault])[] = [
  [/^53100/, 'disk_full'],
  [/^58030/, 'disk_error'],
  [/^53200/, 'no_memory'],
  [/^53300/, 'too_many_connections'],
  [/^53/, 'no_resources'],
  [/^57P/, 'restarting'],
  [/^25006/, 'read_only'],
  [/^(57014|55P03|40001|40P01|25P03)/, 'busy'],
  [/^08/, 'away'],
];

/** Messages of pg itself for a lost, hung or missing connection. They have no codes. */
const lostConnection =
  /connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|not queryable|pool after calling end/i;

/**
 * The database cannot run a statement now: it is away, full, starting or busy. Only the layers that talk to the
 * database create this error, from failed statements and connections. Failures of files, models and receivers can have
 * the same codes, but are no database faults.
 */
export class DatabaseUnavailable extends DomainError {
  constructor(
    readonly fault: DatabaseFault,
    cause: unknown,
  ) {
    super('unavailable', details[fault], { retryAfterSeconds: retryAfterSeconds(fault), cause });
    this.name = 'DatabaseUnavailable';
  }
}

/**
 * A named statement is missing or exists already, because it was prepared on another connection than the one in use.
 */
const mixedUp = /^(26000|42P05)$/;

/** Only for the layers that talk to the database. Maps the error of one of their statements or connections. */
export function databaseError(error: unknown): unknown {
  if (error instanceof DomainError) return error;
  const driverError: unknown = error instanceof QueryFailedError ? error.driverError : error;
  const fault = faultOf(driverError);
  if (fault !== undefined) return new DatabaseUnavailable(fault, error);
  if (!(driverError instanceof pg.DatabaseError) || !mixedUp.test(driverError.code ?? '')) return error;
  return new Error(
    `The database does not keep prepared statements (${driverError.message}), as behind an older connection pooler: ` +
      'set DATABASE_PREPARED_STATEMENTS=off.',
    { cause: error },
  );
}

/** Maps any error that TypeORM threw. Its own error class shows that it comes from a statement. */
export function ofDatabase(error: unknown): unknown {
  return error instanceof QueryFailedError ? databaseError(error) : error;
}

export function isDatabaseUnavailable(error: unknown): boolean {
  return ofDatabase(error) instanceof DatabaseUnavailable;
}

/** undefined: the error is a bug or a wrong setting. */
function faultOf(error: unknown): DatabaseFault | undefined {
  const { code = '', message = '', syscall } = (error ?? {}) as Partial<NodeJS.ErrnoException>;
  if (error instanceof pg.DatabaseError) return faults.find(([codes]) => codes.test(code))?.[1];
  if (code === 'EMFILE' || code === 'ENFILE') return 'no_descriptors';
  // An error of a socket, or of a name that does not resolve. Errors of our own code have no system call.
  if (syscall !== undefined || /^E[A-Z]+$/.test(code)) return 'away';
  // A name has several addresses, and none of them answers.
  if (error instanceof AggregateError) return faultOf(error.errors[0]);
  return lostConnection.test(message) ? 'away' : undefined;
}

/**
 * The server refused the data of a statement (bad data, a constraint, no room), and the connection is still good. So a
 * full disk does not cost a connection per statement. After any other error, a new connection may help (read-only after
 * a failover, a stale plan). Source: PostgreSQL's appendix A.
 */
export function isRefusedRow(thrown: unknown): boolean {
  const error = thrown instanceof DatabaseUnavailable ? thrown.options.cause : thrown;
  return (
    error instanceof pg.DatabaseError && error.severity === 'ERROR' && /^(22|23|53)/.test(error.code ?? '')
  );
}
