import pg from 'pg';
import { QueryFailedError } from 'typeorm';
import { databaseError, DatabaseUnavailable, isDatabaseUnavailable, isRefusedRow } from './database-error.js';

const saidByServer = (code: string): Error =>
  Object.assign(new pg.DatabaseError('said by the server', 0, 'error'), { code, severity: 'ERROR' });
const ofSocket = (code: string): Error =>
  Object.assign(new Error(`connect ${code}`), { code, syscall: 'connect' });

test.each([
  ['53100', 'disk_full', /disk is full/],
  ['58030', 'disk_error', /cannot read or write its disk/],
  ['53200', 'no_memory', /no memory left/],
  ['53300', 'too_many_connections', /no more connections/],
  ['53000', 'no_resources', /limit of its machine/],
  ['57P01', 'restarting', /starting or shutting down/],
  ['57P03', 'restarting', /starting or shutting down/],
  ['25006', 'read_only', /read-only/],
  ['57014', 'busy', /too busy/],
  ['40001', 'busy', /too busy/],
  ['40P01', 'busy', /too busy/],
  ['25P03', 'busy', /too busy/],
  ['08006', 'away', /cannot be reached/],
])('SQLSTATE %s of the server is %s, and says so', (code, fault, detail) => {
  const error = databaseError(saidByServer(code)) as DatabaseUnavailable;
  expect(error).toBeInstanceOf(DatabaseUnavailable);
  expect([error.code, error.fault]).toEqual(['unavailable', fault]);
  expect(error.message).toMatch(detail);
  expect(error.options.retryAfterSeconds).toBeGreaterThan(0);
});

test.each(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ENOTFOUND', 'EHOSTUNREACH'])(
  '%s of a connection is a database that is away',
  (code) => expect(databaseError(ofSocket(code))).toMatchObject({ fault: 'away' }),
);

test('a connection that finds no file descriptor is not a database that is away', () => {
  expect(databaseError(ofSocket('EMFILE'))).toMatchObject({
    fault: 'no_descriptors',
    message: expect.stringContaining('ulimit -n') as string,
  });
});

test.each(['23505', '22P02', '42P01', '28P01'])(
  'SQLSTATE %s is a fault of ours and stays what it is',
  (code) => {
    const error = saidByServer(code);
    expect(databaseError(error)).toBe(error);
  },
);

test('what the driver says in words only is known', () => {
  for (const message of [
    'Connection terminated unexpectedly',
    'timeout exceeded when trying to connect',
    'Query read timeout',
    'Client has encountered a connection error and is not queryable',
  ]) {
    expect(databaseError(new Error(message))).toMatchObject({ fault: 'away' });
  }
  const other = new Error('something else');
  expect(databaseError(other)).toBe(other);
});

test.each(['ENOENT', 'ENOSPC', 'EMFILE', 'EPIPE', 'ECONNRESET', 'ECONNREFUSED', 'ETIMEDOUT'])(
  '%s of something else is no fault of the database',
  (code) => expect(isDatabaseUnavailable(ofSocket(code))).toBe(false),
);

test('a statement of TypeORM is known by its error', () => {
  const failed = (cause: Error): Error => new QueryFailedError('SELECT 1', [], cause);
  expect(isDatabaseUnavailable(failed(saidByServer('53100')))).toBe(true);
  expect(isDatabaseUnavailable(failed(ofSocket('ECONNRESET')))).toBe(true);
  expect(isDatabaseUnavailable(failed(saidByServer('23505')))).toBe(false);
});

test('a connection is as good as before when a statement found no room', () => {
  expect(isRefusedRow(databaseError(saidByServer('53100')))).toBe(true);
  expect(isRefusedRow(databaseError(saidByServer('25006')))).toBe(false);
  expect(isRefusedRow(databaseError(ofSocket('ECONNRESET')))).toBe(false);
});
