/** The process's pino logger; writes to stdout, synchronously. */
export const PINO = Symbol('PINO');
