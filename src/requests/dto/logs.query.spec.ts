import { validated } from '../../http/input/validated.js';
import { LogsQuery } from './logs.query.js';

const logsOf = (logs: unknown) => validated(LogsQuery, { logs }).logs;

it.each(['1', 'true'])('%s turns the logs on', (value) => expect(logsOf(value)).toBe(true));

it.each(['0', 'false', undefined])('%s leaves them off', (value) => expect(logsOf(value)).toBe(false));

it.each(['', ' 1', '2', '01', 'TRUE', 'yes', 'on', 'null', ['1', '1'], ['1'], { a: '1' }, 1, true, null])(
  '%j is refused',
  (value) => {
    expect(() => logsOf(value)).toThrow(expect.objectContaining({ code: 'invalid_query' }));
  },
);

it('is checked once for each text', () => {
  const first = validated(LogsQuery, { logs: '1', other: 'a' });
  expect(validated(LogsQuery, { logs: '1', other: 'b' })).toBe(first);
  expect(first).toEqual({ logs: true });
});
