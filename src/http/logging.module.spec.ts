import { serializeError } from './logging.module.js';

test('a log line has the kind, message, code and cause of an error, and no SQL values', () => {
  const cause = Object.assign(new TypeError('inner'), { code: '23505' });
  const error = Object.assign(new Error('outer', { cause }), { parameters: ['hunter2'], query: 'INSERT' });
  const line = serializeError(error);
  expect(line).toMatchObject({
    type: 'Error',
    message: 'outer',
    cause: { type: 'TypeError', message: 'inner', code: '23505' },
  });
  expect(JSON.stringify(line)).not.toMatch(/hunter2|INSERT/);
});

test('a thrown value that is not an error is still logged', () => {
  expect(serializeError('plain')).toEqual({ message: 'plain' });
});
