import { Global, Module } from '@nestjs/common';
import { Config } from '../config/config.js';
import { startSpanSender } from './span-sender.js';
import { Tracing } from './tracing.js';

@Global()
@Module({
  providers: [
    {
      provide: Tracing,
      inject: [Config],
      useFactory: async (config: Config) => new Tracing(await startSpanSender(config)),
    },
  ],
  exports: [Tracing],
})
export class TracingModule {}
