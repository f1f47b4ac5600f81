import { pino } from 'pino';
import { lineStart, writeLines } from './pino-lines.js';

let written = '';
const logger = pino(
  { base: { process: 7 }, timestamp: () => ',"time":1' },
  { write: (line: string) => (written += line) },
);

beforeEach(() => (written = ''));

it('a line begins like a line of pino', () => {
  logger.warn('hello');
  expect(written).toBe(`${lineStart(logger, 'warn')},"msg":"hello"}\n`);
});

it('complete lines are written to the destination of pino', () => {
  writeLines(logger, 'one\ntwo\n');
  expect(written).toBe('one\ntwo\n');
});
