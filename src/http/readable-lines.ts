import type { PrettyOptions } from 'pino-pretty';

interface Line {
  msg?: string;
  durationMs?: number;
  [field: string]: unknown;
}

/** What a terminal would obey rather than show. Lines and tabs stay. */
const controls = /[^\P{Cc}\n\t]/gu;
const shown = (character: string): string => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;

const options: PrettyOptions = {
  // The terminal has one process, and the text says what it is about.
  ignore: 'node,context',
  translateTime: 'SYS:HH:MM:ss.l',
  singleLine: true,
};

/** Makes the service's lines of JSON readable for people. Loaded only where people read them. */
export async function readableLines(hasColour: boolean): Promise<(lines: string) => string> {
  const { default: pretty } = await import('pino-pretty');
  const format = pretty.prettyFactory({ ...options, colorize: hasColour });
  return (lines) =>
    lines
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => format(toShown(line)))
      .join('');
}

function toShown(line: string): Line {
  const parsed = JSON.parse(line, (_, value: unknown) =>
    typeof value === 'string' ? value.replaceAll(controls, shown) : value,
  ) as Line;
  const { durationMs, ...rest } = parsed;
  if (durationMs === undefined) {
    // What a line of the text begins with is always ours.
    return { ...parsed, ...(parsed.msg && { msg: parsed.msg.replaceAll('\n', '\n    ') }) };
  }
  const { method, path, status, code = '', msg, requestId: _, ...others } = rest;
  const lost = msg === 'answered' ? '' : ` (${msg})`;
  const text = [method, path, status, code].join(' ').trimEnd();
  return { ...others, msg: `${text} in ${durationMs} ms${lost}` };
}
