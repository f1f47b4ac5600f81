import { Inject, Injectable, type LoggerService } from '@nestjs/common';
import type { Level, Logger } from 'pino';

/** The process's pino logger; writes to stdout, many lines at once and a tenth of a second late at most. */
export const PINO = Symbol('PINO');

const startUp = new Set([
  'NestFactory',
  'NestApplication',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
]);

type Write = (message: unknown, ...rest: unknown[]) => void;

/** Nest's logger on pino; its account of its own start is logged at debug only. */
@Injectable()
export class QuietNestLogger implements LoggerService {
  readonly log = this.writer((context = '') => (startUp.has(context) ? 'debug' : 'info'));
  readonly error = this.writer(() => 'error');
  readonly warn = this.writer(() => 'warn');
  readonly debug = this.writer(() => 'debug');
  readonly verbose = this.writer(() => 'trace');

  constructor(@Inject(PINO) private readonly pino: Logger) {}

  private writer(levelFor: (context?: string) => Level): Write {
    return (message, ...rest) => {
      // Nest passes the name of the class that logs last.
      const last = rest.at(-1);
      const context = typeof last === 'string' ? last : undefined;
      const level = levelFor(context);
      if (typeof message === 'string') this.pino[level]({ context }, message);
      else this.pino[level]({ context, err: serializeError(message) });
    };
  }
}

/** What a log line shows of an error. A driver's error also carries SQL values: those stay out. */
export function serializeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: String(error) };
  const { code } = error as NodeJS.ErrnoException;
  const { message, stack, cause } = error;
  return {
    type: error.constructor.name,
    message,
    ...(code !== undefined && { code }),
    stack,
    ...(cause !== undefined && { cause: serializeError(cause) }),
  };
}
