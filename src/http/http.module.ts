import { Global, Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { AccessLog } from './access-log.js';
import { BodyReader } from './body-reader.js';
import { Draining } from './draining.js';
import { ProblemFilter } from './problem.filter.js';

/** Import it last: Nest notifies the last module first that the service stops. */
@Global()
@Module({
  providers: [{ provide: APP_FILTER, useClass: ProblemFilter }, AccessLog, BodyReader, Draining],
  exports: [AccessLog, BodyReader, Draining],
})
export class HttpModule {}
