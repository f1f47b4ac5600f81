/** The process's pino logger; writes to stdout, what one write left waiting together in the next. */
export const PINO = Symbol('PINO');
