/** The process's pino logger; writes to stdout, many lines at once and a tenth of a second late at most. */
export const PINO = Symbol('PINO');
