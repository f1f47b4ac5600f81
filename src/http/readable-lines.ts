import type { PrettyOptions } from 'pino-pretty';

interface Line {
  msg?: string;
  durationMs?: number;
  [field: string]: unknown;
}

/** Characters that a terminal would obey rather than show. Newlines and tabs stay. */
const controls = /[^\P{Cc}\n\t]/gu;
const shown = (character: string): string => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;

const options: PrettyOptions = {
  // The terminal has one process, and the text shows what it is about.
  ignore: 'node,context',
  translateTime: 'SYS:HH:MM:ss.l',
  singleLine: true,
};

/** Makes the service's JSON lines readable for people. Loads its formatter only when it is called. */
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
    // Only the service's own text may begin a line.
    return { ...parsed, ...(parsed.msg && { msg: parsed.msg.replaceAll('\n', '\n    ') }) };
  }
  const { method, path, status, code = '', msg, callId: _, ...others } = rest;
  const lost = msg === 'answered' ? '' : ` (${msg})`;
  const text = [method, path, status, code].join(' ').trimEnd();
  return { ...others, msg: `${text} in ${durationMs} ms${lost}` };
}
