// A part of a growing output is stored as JSON. If the chunks of a server's stream are kept with it, it is an object
// that stands on several lines, one chunk a line. Any other part is one line, because deltas have no line breaks.

const beforeDelta = '{"delta":';
const afterDelta = ',"chunks":[';

/** Returns a part with the chunks that made it. Neither the delta nor a chunk has a line break. '': there is no delta. */
export function partOf(delta: string, chunks: readonly string[]): string {
  return `${beforeDelta}${delta === '' ? 'null' : delta}${afterDelta}\n${chunks.join(',\n')}\n]}`;
}

/** Returns the delta of a part, as JSON text. Its first line is enough. undefined: the part has only chunks. */
export function deltaIn(part: string): string | undefined {
  const end = part.indexOf('\n');
  if (end === -1) return part;
  const delta = part.slice(beforeDelta.length, end - afterDelta.length);
  return delta === 'null' ? undefined : delta;
}

/** Returns the chunks of a part, as the server sent them. undefined: none were kept. */
export function chunksIn(part: string): string[] | undefined {
  const lines = part.split('\n');
  if (lines.length === 1) return undefined;
  return lines
    .slice(1, -1)
    .flatMap((line) => (line === '' ? [] : [line.endsWith(',') ? line.slice(0, -1) : line]));
}
