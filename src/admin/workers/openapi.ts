import { applyDecorators } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import { ApiProblems } from '../../http/openapi/operations.js';
import { exampleId, headerReferences } from '../../http/openapi/responses.js';
import { ApiReason, reasonProblems } from '../openapi/reason.js';
import { AdminWorkerPageDto, ToldWorkerDto } from './worker.dto.js';

export const ApiListWorkers = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'List the workers',
      description: 'Which claim runs over HTTP, what each has, and how it is; up to 15 s old.',
    }),
    ApiOkResponse({ description: 'A page.', headers: headerReferences(['Link']), type: AdminWorkerPageDto }),
    ApiProblems('invalid_query'),
  );

export const ApiTellWorker = (summary: string, description: string): MethodDecorator =>
  applyDecorators(
    ApiOperation({ summary, description }),
    ApiParam({
      name: 'worker_uid',
      description: 'The `uid` of the list.',
      schema: { type: 'string', format: 'uuid', example: exampleId },
    }),
    ApiReason(),
    ApiOkResponse({ description: 'What it is told from now on.', type: ToldWorkerDto }),
    ApiProblems(...reasonProblems, 'unknown_id'),
  );
