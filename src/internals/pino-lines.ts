// Relies on pino internals: the symbols under which a logger keeps the parts of its lines.
import { type Level, type Logger, symbols } from 'pino';

/** The parts of pino's lines. pino exports the symbols for such uses, but no types. */
interface Insides {
  /** The beginning of a line, by level number. */
  [symbols.lsCacheSym]: Record<number, string>;
  [symbols.timeSym]: () => string;
  /** The fields that every line has. */
  [symbols.chindingsSym]: string;
  [symbols.streamSym]: { write(text: string): void };
}

/** Returns how a line of pino begins now: level, time and the fields that every line has. */
export function lineStart(logger: Logger, level: Level): string {
  const inside = logger as unknown as Insides;
  const ofLevel = inside[symbols.lsCacheSym][logger.levels.values[level]!]!;
  return ofLevel + inside[symbols.timeSym]() + inside[symbols.chindingsSym];
}

export function writeLines(logger: Logger, text: string): void {
  (logger as unknown as Insides)[symbols.streamSym].write(text);
}
