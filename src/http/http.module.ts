import { Global, Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { AccessLog } from './access-log.js';
import { AnswerFields } from './answer-fields.js';
import { BodyReader } from './body-reader.js';
import { ClientAddress } from './client-address.js';
import { DescriptorWatch } from './descriptor-watch.js';
import { Draining } from './draining.js';
import { HttpConnections } from './http-connections.js';
import { ApiDocument } from './openapi/api-document.js';
import { OtherApis } from './other-apis.js';
import { ProblemFilter } from './problem.filter.js';

/** Import it last: Nest notifies the last module first that the service stops. */
@Global()
@Module({
  providers: [
    { provide: APP_FILTER, useClass: ProblemFilter },
    AccessLog,
    AnswerFields,
    ApiDocument,
    BodyReader,
    ClientAddress,
    DescriptorWatch,
    Draining,
    HttpConnections,
    OtherApis,
  ],
  exports: [
    AccessLog,
    AnswerFields,
    ApiDocument,
    BodyReader,
    ClientAddress,
    Draining,
    HttpConnections,
    OtherApis,
  ],
})
export class HttpModule {}
