import { RunLog } from './run-log.js';

/** Admits lines until the log is full. Returns the admitted lines. */
function fill(log: RunLog, lines: string[]): string[] {
  return lines.flatMap((line) => log.admit('INFO', line, 'runner')?.message ?? []);
}

const full = expect.stringMatching(/^The log is full/);

it('does not change lines', () => {
  expect(new RunLog().admit('DEBUG', 'half done', 'stdout')).toEqual({
    level: 'DEBUG',
    source: 'stdout',
    message: 'half done',
  });
});

it('stores 1,000 entries, and the last one states that the log is full', () => {
  const admitted = fill(new RunLog(), Array<string>(1_500).fill('line'));
  expect(admitted).toHaveLength(1_000);
  expect(admitted[998]).toBe('line');
  expect(admitted[999]).toEqual(full);
});

it.each([
  ['of one byte', 'x'],
  ['of more bytes', '漢'],
])(
  'stores 64 KiB of text in characters %s, and the last entry states that the log is full',
  (_name, character) => {
    const admitted = fill(new RunLog(), Array<string>(200).fill(character.repeat(1_000)));
    const bytes = Buffer.byteLength(admitted.join(''));
    expect(bytes).toBeLessThanOrEqual(64 * 1024);
    expect(bytes).toBeGreaterThan(60 * 1024);
    expect(admitted.at(-1)).toEqual(full);
  },
);

it('is full after a line that does not fit, and then refuses shorter lines too', () => {
  const log = new RunLog();
  expect(fill(log, ['begin', 'x'.repeat(70_000), 'short'])).toEqual(['begin', full]);
});

it('counts the lines of earlier attempts', () => {
  const admitted = fill(
    new RunLog({ entries: 990, bytes: 1_000, full: false }),
    Array<string>(20).fill('line'),
  );
  expect(admitted).toHaveLength(10);
  expect(admitted.at(-1)).toEqual(full);
});

it('stays full over attempts', () => {
  expect(fill(new RunLog({ entries: 2, bytes: 100, full: true }), ['line'])).toEqual([]);
});

it('replaces characters that PostgreSQL cannot store', () => {
  expect(new RunLog().admit('INFO', '\0', 'runner')?.message).toBe('\uFFFD');
});
