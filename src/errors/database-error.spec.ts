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
])('SQLSTATE %s of the server is the fault %s, and the message states it', (code, fault, detail) => {
  const error = databaseError(saidByServer(code)) as DatabaseUnavailable;
  expect(error).toBeInstanceOf(DatabaseUnavailable);
  expect([error.code, error.fault]).toEqual(['unavailable', fault]);
  expect(error.message).toMatch(detail);
  expect(error.options.retryAfterSeconds).toBeGreaterThan(0);
});

test.each(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ENOTFOUND', 'EHOSTUNREACH'])(
  '%s of a connection means that the database is away',
  (code) => expect(databaseError(ofSocket(code))).toMatchObject({ fault: 'away' }),
);

test('a connection without a free file descriptor does not mean that the database is away', () => {
  expect(databaseError(ofSocket('EMFILE'))).toMatchObject({
    fault: 'no_descriptors',
    message: expect.stringContaining('ulimit -n') as string,
  });
});

test.each(['23505', '22P02', '42P01', '28P01'])(
  'SQLSTATE %s is a fault of the service itself, and the error stays unchanged',
  (code) => {
    const error = saidByServer(code);
    expect(databaseError(error)).toBe(error);
  },
);

test('errors of the driver that have only a message are recognized', () => {
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
  '%s from another source is not a fault of the database',
  (code) => expect(isDatabaseUnavailable(ofSocket(code))).toBe(false),
);

test('a failed statement of TypeORM is classified by its cause', () => {
  const failed = (cause: Error): Error => new QueryFailedError('SELECT 1', [], cause);
  expect(isDatabaseUnavailable(failed(saidByServer('53100')))).toBe(true);
  expect(isDatabaseUnavailable(failed(ofSocket('ECONNRESET')))).toBe(true);
  expect(isDatabaseUnavailable(failed(saidByServer('23505')))).toBe(false);
});

test('a connection is still good after a full disk, but not after a read-only or a lost database', () => {
  expect(isRefusedRow(databaseError(saidByServer('53100')))).toBe(true);
  expect(isRefusedRow(databaseError(saidByServer('25006')))).toBe(false);
  expect(isRefusedRow(databaseError(ofSocket('ECONNRESET')))).toBe(false);
});
