import { types } from 'node:util';
import pg from 'pg';
import { DomainError } from './domain-error.js';

const unreachable = /^E(CONNREFUSED|CONNRESET|PIPE|TIMEDOUT|NOTFOUND|HOSTUNREACH|NOENT)$/;

/**
 * SQLSTATE classes that say "not now" rather than "never": connection, resources (disk full among them),
 * operator intervention (restart), read-only after a failover. Source: PostgreSQL's appendix A.
 */
const passing = /^(08|53|57P|25006|25P03|57014|55P03|40001|40P01)/;

/** A named statement is not there, or there already: another connection was prepared than the one that is used. */
const mixedUp = /^(26000|42P05)$/;

/** Turns a lost, full or restarting database into `unavailable`; anything else is a bug and stays what it is. */
export function databaseError(error: unknown): unknown {
  if (types.isNativeError(error) && mixedUp.test((error as NodeJS.ErrnoException).code ?? '')) {
    return new Error(
      `The database does not keep prepared statements (${error.message}), as behind an older connection pooler: ` +
        'set DATABASE_PREPARED_STATEMENTS=off.',
      { cause: error },
    );
  }
  if (!isDatabaseUnavailable(error)) return error;
  return new DomainError('unavailable', 'The database cannot be reached. Try again in a moment.', {
    retryAfterSeconds: 2,
    cause: error,
  });
}

export function isDatabaseUnavailable(error: unknown): boolean {
  if (error instanceof DomainError) return error.code === 'unavailable';
  if (!types.isNativeError(error)) return false; // not instanceof: an error may come from another realm
  const code = (error as NodeJS.ErrnoException).code;
  if (code !== undefined && (unreachable.test(code) || passing.test(code))) return true;
  return /connection terminated|timeout exceeded when trying to connect|Query read timeout|not queryable|pool after calling end/i.test(
    error.message,
  );
}

/**
 * The server refused what a statement wanted to store (bad data, a constraint, no room), and the connection is as good
 * as before: with a full disk, not every statement costs one. After any other error a new one may help (read-only after
 * a failover, a stale plan). Source: PostgreSQL's appendix A.
 */
export function isRefusedRow(error: unknown): boolean {
  return (
    error instanceof pg.DatabaseError && error.severity === 'ERROR' && /^(22|23|53)/.test(error.code ?? '')
  );
}
