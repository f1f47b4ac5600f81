import pg from 'pg';
import { QueryFailedError } from 'typeorm';
import { DomainError } from './domain-error.js';

/** Why the database does not take a statement now. */
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
  disk_error: 'The database cannot read or write its disk. The operator has to look at it.',
  no_memory: 'The database has no memory left. Try again in a moment.',
  too_many_connections:
    'The database takes no more connections. Try again in a moment; the operator may raise max_connections.',
  no_resources: 'The database is at a limit of its machine. Try again in a moment.',
  no_descriptors:
    'This node is at its limit of open files (ulimit -n), so it cannot reach the database. Try again in a moment.',
  restarting: 'The database is starting or shutting down. Try again in a moment.',
  read_only: 'The database only reads now, as a standby does. Try again in a moment.',
  busy: 'The database is too busy to answer in time. Try again in a moment.',
};

/** What a full disk needs is more than a moment. */
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

/** The words in which pg itself says that a connection is lost, hung or missing. It has no codes for them. */
const lostConnection =
  /connection terminated|timeout exceeded when trying to connect|Query read timeout|not queryable|pool after calling end/i;

/**
 * The database does not take a statement now: it is away, full, starting or busy. Only the layers that speak to the
 * database make these, of what a statement or a connection failed with: what a file, a model or a receiver fails with has
 * the same codes, and is none.
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

/** For the layers that speak to the database alone: what a statement or a connection of theirs has failed with. */
export function databaseError(error: unknown): unknown {
  if (error instanceof DomainError) return error;
  const fault = faultOf(error instanceof QueryFailedError ? error.driverError : error);
  return fault === undefined ? error : new DatabaseUnavailable(fault, error);
}

/** What anything has failed with, if TypeORM threw it: its own errors say that they are from a statement. */
export function ofDatabase(error: unknown): unknown {
  return error instanceof QueryFailedError ? databaseError(error) : error;
}

export function isDatabaseUnavailable(error: unknown): boolean {
  return ofDatabase(error) instanceof DatabaseUnavailable;
}

/** undefined: it is a bug, or a setting that is wrong. */
function faultOf(error: unknown): DatabaseFault | undefined {
  const { code = '', message = '', syscall } = (error ?? {}) as Partial<NodeJS.ErrnoException>;
  if (error instanceof pg.DatabaseError) return faults.find(([codes]) => codes.test(code))?.[1];
  if (code === 'EMFILE' || code === 'ENFILE') return 'no_descriptors';
  // A socket's, or a name that leads nowhere. Errors of ours have no system call.
  if (syscall !== undefined || /^E[A-Z]+$/.test(code)) return 'away';
  // Several addresses of one name, none of which answers.
  if (error instanceof AggregateError) return faultOf(error.errors[0]);
  return lostConnection.test(message) ? 'away' : undefined;
}

/**
 * The server refused what a statement wanted to store (bad data, a constraint, no room), and the connection is as good
 * as before: with a full disk, not every statement costs one. After any other error a new one may help (read-only after
 * a failover, a stale plan). Source: PostgreSQL's appendix A.
 */
export function isRefusedRow(thrown: unknown): boolean {
  const error = thrown instanceof DatabaseUnavailable ? thrown.options.cause : thrown;
  return (
    error instanceof pg.DatabaseError && error.severity === 'ERROR' && /^(22|23|53)/.test(error.code ?? '')
  );
}
