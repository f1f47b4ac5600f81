import { type DynamicModule, Global, Module } from '@nestjs/common';
import { type Logger, pino } from 'pino';
import type { Config } from '../config/config.js';
import { PINO } from './pino-token.js';
import { QuietNestLogger } from './quiet-nest-logger.js';
import { serializeError } from './serialize-error.js';

@Global()
@Module({})
export class LoggingModule {
  static register(config: Config): DynamicModule {
    const logger: Logger = pino({
      level: config.logLevel,
      base: { node: config.nodeName },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }) },
      serializers: { err: serializeError },
    });
    return {
      module: LoggingModule,
      providers: [{ provide: PINO, useValue: logger }, QuietNestLogger],
      exports: [PINO, QuietNestLogger],
    };
  }
}
