import { Inject, Injectable, type LoggerService } from '@nestjs/common';
import type { Logger } from 'pino';
import { serializeError } from './serialize-error.js';

/** The process's pino logger; writes to stdout, many lines at once and a tenth of a second late at most. */
export const PINO = Symbol('PINO');

const startUp = new Set([
  'NestFactory',
  'NestApplication',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
]);

/** Nest's logger on pino; its account of its own start is logged at debug only. */
@Injectable()
export class QuietNestLogger implements LoggerService {
  constructor(@Inject(PINO) private readonly pino: Logger) {}

  log(message: unknown, ...rest: unknown[]): void {
    this.write(startUp.has(contextOf(rest) ?? '') ? 'debug' : 'info', message, rest);
  }

  error(message: unknown, ...rest: unknown[]): void {
    this.write('error', message, rest);
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.write('warn', message, rest);
  }

  debug(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }

  verbose(message: unknown, ...rest: unknown[]): void {
    this.write('trace', message, rest);
  }

  private write(
    level: 'trace' | 'debug' | 'info' | 'warn' | 'error',
    message: unknown,
    rest: unknown[],
  ): void {
    const context = contextOf(rest);
    if (typeof message === 'string') this.pino[level]({ context }, message);
    else this.pino[level]({ context, err: serializeError(message) });
  }
}

/** Nest passes the name of the class that logs last. */
function contextOf(rest: unknown[]): string | undefined {
  const last = rest.at(-1);
  return typeof last === 'string' ? last : undefined;
}
