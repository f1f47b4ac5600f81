import { knownOptionsOf } from '../../http/input/option.js';
import { LogsQuery } from './logs.query.js';

const logsOf = (logs: unknown) => knownOptionsOf(LogsQuery, { logs }).logs;

it.each(['1', 'true'])('%s turns the logs on', (value) => expect(logsOf(value)).toBe(true));

it.each(['0', 'false', undefined])('%s leaves them off', (value) => expect(logsOf(value)).toBe(false));

it.each(['', ' 1', '2', '01', 'TRUE', 'yes', 'on', 'null', ['1', '1'], ['1'], { a: '1' }, 1, true, null])(
  '%j is refused',
  (value) => {
    expect(() => logsOf(value)).toThrow(expect.objectContaining({ code: 'invalid_query' }));
  },
);
