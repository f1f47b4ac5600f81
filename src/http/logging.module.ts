import { type DynamicModule, Global, Module } from '@nestjs/common';
import { type Logger, pino } from 'pino';
import type { Config } from '../config/config.js';
import { PINO, QuietNestLogger, serializeError } from './quiet-nest-logger.js';

/** Lines are written together once there are so many bytes of them… */
const writeBytes = 32 * 1024;
const maxBytesAtOnce = 2 * writeBytes;
/** …or so long after the last write. */
const latestMs = 100;
/** When stdout is not read any more, lines beyond it are dropped. */
const maxWaitingBytes = 16 * 1024 * 1024;

/** Lines of the same millisecond share its text, which takes as long as the rest of a line. */
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

/** Where pino puts its lines. */
class LogLines {
  // A write a line would cost a call to the service a tenth of its time. What waits is written at the exit.
  private readonly out = pino.destination({
    sync: false,
    // As text, sonic-boom would count the bytes of all that waits at each line.
    contentMode: 'buffer',
    minLength: writeBytes,
    maxWrite: maxBytesAtOnce,
    periodicFlush: latestMs,
    maxLength: maxWaitingBytes,
  });

  constructor() {
    // A terminal that was closed takes no lines; that must not keep a stop from its end.
    this.out.on('error', () => undefined);
  }

  write(line: string): void {
    // In this mode it takes bytes, which its types do not know.
    this.out.write(Buffer.from(line) as unknown as string);
  }

  /** pino calls it after a fatal line. */
  flushSync(): void {
    this.out.flushSync();
  }
}

@Global()
@Module({})
export class LoggingModule {
  static register(config: Config): DynamicModule {
    const logger: Logger = pino(
      {
        level: config.logLevel,
        base: { node: config.nodeName },
        timestamp: isoTime(),
        formatters: { level: (level) => ({ level }) },
        serializers: { err: serializeError },
      },
      new LogLines(),
    );
    return {
      module: LoggingModule,
      providers: [{ provide: PINO, useValue: logger }, QuietNestLogger],
      exports: [PINO, QuietNestLogger],
    };
  }
}
