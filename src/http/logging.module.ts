import { type DynamicModule, Global, Module } from '@nestjs/common';
import { LoggerModule } from 'nestjs-pino';
import { type Logger, pino } from 'pino';
import type { Config } from '../config/config.js';
import { QuietNestLogger } from './quiet-nest-logger.js';
import { serializeError } from './serialize-error.js';

/** The process's pino logger; writes to stdout, synchronously. */
export const PINO = Symbol('PINO');

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
      // The module's own middleware is not used: it makes a child logger for every exchange.
      imports: [LoggerModule.forRoot({ pinoHttp: { logger }, forRoutes: [] })],
      providers: [{ provide: PINO, useValue: logger }, QuietNestLogger],
      exports: [PINO, QuietNestLogger],
    };
  }
}
