import { DomainError } from '../errors/domain-error.js';
import { parseLogsQuery } from './logs-query.js';

it.each(['1', 'true'])('%s turns the logs on', (value) => expect(parseLogsQuery(value)).toBe(true));

it.each(['0', 'false', undefined])('%s leaves them off', (value) =>
  expect(parseLogsQuery(value)).toBe(false),
);

it.each(['', ' 1', '2', '01', 'TRUE', 'yes', 'on', 'null', ['1', '1'], ['1'], { a: '1' }, 1, true, null])(
  '%j is refused',
  (value) => {
    expect(() => parseLogsQuery(value)).toThrow(DomainError);
  },
);
