import { DomainError } from './domain-error.js';
import { databaseError, isDatabaseUnavailable } from './database-error.js';

const withCode = (code: string): Error => Object.assign(new Error('said by the server'), { code });

it.each([
  ['08006', 'a broken connection'],
  ['53100', 'a full disk'],
  ['53300', 'too many connections'],
  ['57P01', 'a server that shuts down'],
  ['57P03', 'a server that starts'],
  ['25006', 'a server that only reads'],
  ['25P03', 'a transaction that was given up'],
  ['40P01', 'a deadlock'],
  ['ECONNREFUSED', 'no listener'],
  ['ECONNRESET', 'a reset'],
])('%s, %s, is a database that is not there now', (code) => {
  const error = databaseError(withCode(code));
  expect(error).toBeInstanceOf(DomainError);
  expect((error as DomainError).code).toBe('unavailable');
  expect((error as DomainError).options.retryAfterSeconds).toBeGreaterThan(0);
});

it.each(['23505', '22P02', '42P01', 'ERR_INVALID_ARG_TYPE'])(
  '%s is a fault of ours and stays what it is',
  (code) => {
    const error = withCode(code);
    expect(databaseError(error)).toBe(error);
  },
);

it('knows what the driver says in words only', () => {
  for (const message of [
    'Connection terminated unexpectedly',
    'timeout exceeded when trying to connect',
    'Query read timeout',
    'Client has encountered a connection error and is not queryable',
  ]) {
    expect(isDatabaseUnavailable(new Error(message))).toBe(true);
  }
  expect(isDatabaseUnavailable(new Error('something else'))).toBe(false);
  expect(isDatabaseUnavailable('Query read timeout')).toBe(false);
});
