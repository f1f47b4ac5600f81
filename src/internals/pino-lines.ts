// Relies on insides of pino: the symbols under which a logger keeps the pieces of its lines.
import { type Level, type Logger, symbols } from 'pino';

/** What pino makes its lines of. It hands out the symbols for such uses as this, but no types. */
interface Insides {
  /** The beginning of a line, by the number of its level. */
  [symbols.lsCacheSym]: Record<number, string>;
  [symbols.timeSym]: () => string;
  /** Fields that each line has. */
  [symbols.chindingsSym]: string;
  [symbols.streamSym]: { write(text: string): void };
}

/** What a line begins with if pino writes it now: level, time and the fields that each line has. */
export function lineStart(logger: Logger, level: Level): string {
  const inside = logger as unknown as Insides;
  const ofLevel = inside[symbols.lsCacheSym][logger.levels.values[level]!]!;
  return ofLevel + inside[symbols.timeSym]() + inside[symbols.chindingsSym];
}

export function writeLines(logger: Logger, text: string): void {
  (logger as unknown as Insides)[symbols.streamSym].write(text);
}
