import { ApiOkResponse } from '@nestjs/swagger';
import { ApiCall, ApiProblems } from '../../http/openapi/operations.js';
import { ApiPage } from '../../http/openapi/page.dto.js';
import { AdminWorkerPageDto, ToldWorkerDto } from './workers.dto.js';

export const ApiListWorkers = ApiCall(
  'List the workers',
  'The programs that claim runs over HTTP, with their runs and states; up to 15 s old.',
  ApiPage(AdminWorkerPageDto),
  ApiProblems('invalid_query'),
);

export const ApiTellWorker = (summary: string, description: string): MethodDecorator =>
  ApiCall(
    summary,
    description,
    ApiOkResponse({ description: 'The order that the worker now has.', type: ToldWorkerDto }),
    ApiProblems('unknown_id'),
  );
