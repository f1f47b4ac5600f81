import { type DynamicModule, Global, Inject, Injectable, type LoggerService, Module } from '@nestjs/common';
import { type DestinationStream, type Level, type Logger, pino } from 'pino';
import type { Config } from '../config/config.js';
import { Redaction } from '../tools/redaction.js';
import { readableLines } from './readable-lines.js';

/** Lines are written together once they have this many bytes. */
const writeBytes = 32 * 1024;

/** Lines of the same millisecond share its text, which takes as long to make as the rest of a line. */
function isoTime(): () => string {
  let last = 0;
  let text = '';
  return () => {
    const now = Date.now();
    if (now !== last) {
      last = now;
      text = `,"time":"${new Date(now).toISOString()}"`;
    }
    return text;
  };
}

/** `toText`: formats lines for people, who see each line at once. */
function logLines(toText?: (lines: string) => string): DestinationStream & { flushSync(): void } {
  // A write per line would take a tenth of the time of a call. Waiting lines are written at the exit.
  const out = pino.destination({
    sync: false,
    // With text, sonic-boom would count the bytes of all waiting lines at each line.
    contentMode: 'buffer',
    minLength: toText === undefined ? writeBytes : 0,
    maxWrite: 2 * writeBytes,
    periodicFlush: 100, // ms
    // When stdout is not read any more, lines beyond this many bytes are dropped.
    maxLength: 16 * 1024 * 1024,
  });
  // A closed terminal takes no lines, which must not prevent a stop.
  out.on('error', () => undefined);
  return {
    // This mode takes bytes, which its types do not know.
    write: (lines) => void out.write(Buffer.from(toText?.(lines) ?? lines) as unknown as string),
    // pino calls it after a fatal line.
    flushSync: () => out.flushSync(),
  };
}

/** The process's pino logger. It writes to stdout, many lines at once, and at most a tenth of a second late. */
export const PINO = Symbol('PINO');

const startUp = /^(NestFactory|NestApplication|InstanceLoader|RoutesResolver|RouterExplorer)$/;

/** Nest's logger on pino. What Nest reports of its own start is logged only at debug. */
@Injectable()
export class QuietNestLogger implements LoggerService {
  readonly log = this.writer((context = '') => (startUp.test(context) ? 'debug' : 'info'));
  readonly error = this.writer(() => 'error');
  readonly warn = this.writer(() => 'warn');
  readonly debug = this.writer(() => 'debug');
  readonly verbose = this.writer(() => 'trace');

  constructor(@Inject(PINO) private readonly pino: Logger) {}

  private writer(levelFor: (context?: string) => Level) {
    return (message: unknown, ...rest: unknown[]): void => {
      // Nest passes the name of the logging class last, and fields before the text.
      const [text, context = text] = rest.slice(-2).map((one) => (typeof one === 'string' ? one : undefined));
      const level = levelFor(context);
      if (typeof message === 'string') this.pino[level]({ context }, message);
      else if (rest.length > 1 && text !== undefined && !(message instanceof Error))
        this.pino[level]({ context, ...(message as object) }, text);
      else this.pino[level]({ context, err: serializeError(message) });
    };
  }
}

/** Returns what a log line shows of an error. A driver's error also carries SQL values, which are left out. */
export function serializeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: String(error) };
  const { message, code, stack, cause } = error as NodeJS.ErrnoException;
  const inner = cause === undefined ? undefined : serializeError(cause);
  return { type: error.constructor.name, message, code, stack, cause: inner };
}

/** The log of the process, and the redaction of its lines. */
export interface Log {
  logger: Logger;
  redaction: Redaction;
}

/** Made before the application, which may first have something to wait for. */
export async function createLog(config: Config): Promise<Log> {
  const redaction = new Redaction(config.environment);
  const logger = pino(
    {
      level: config.logLevel,
      base: { node: config.nodeName },
      timestamp: isoTime(),
      formatters: { level: (level) => ({ level }) },
      serializers: { err: serializeError },
      hooks: { streamWrite: (line) => redaction.text(line) },
    },
    logLines(isForPeople(config) ? await readableLines(showsColour(config)) : undefined),
  );
  return { logger, redaction };
}

@Global()
@Module({})
export class LoggingModule {
  static async register(config: Config, log?: Log): Promise<DynamicModule> {
    const { logger, redaction } = log ?? (await createLog(config));
    return {
      module: LoggingModule,
      providers: [
        { provide: PINO, useValue: logger },
        { provide: Redaction, useValue: redaction },
        QuietNestLogger,
      ],
      exports: [PINO, Redaction, QuietNestLogger],
    };
  }
}

const isForPeople = ({ logFormat }: Config): boolean =>
  logFormat === 'pretty' || (logFormat === 'auto' && process.stdout.isTTY);

/** https://no-color.org */
const showsColour = ({ environment }: Config): boolean =>
  process.stdout.isTTY && !environment['NO_COLOR'] && environment['TERM'] !== 'dumb';
