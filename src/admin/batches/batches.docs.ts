import { ApiAcceptedResponse, ApiOkResponse } from '@nestjs/swagger';
import { ApiCall, ApiProblems } from '../../http/openapi/operations.js';
import { ApiList } from '../../http/openapi/page.dto.js';
import { AdminBatchDto, AdminBatchPageDto } from './batches.dto.js';

export const ApiListBatches = ApiList(
  'List the batches of all keys',
  'Newest first, with the counts of their lines.',
  AdminBatchPageDto,
);

export const ApiReadBatch = ApiCall(
  'Read a batch of any key',
  'Its requests are those with the tag `batch:<batch_id>`.',
  ApiOkResponse({ description: 'The batch.', type: AdminBatchDto }),
  ApiProblems('batch_not_found'),
);

export const ApiCancelBatch = ApiCall(
  'Cancel a batch of any key',
  'Lines that wait are cancelled, and those that run are asked to stop. What has succeeded stays in the output. ' +
    'Idempotent.',
  ApiAcceptedResponse({ description: 'The batch, which is being cancelled.', type: AdminBatchDto }),
  ApiProblems('batch_not_found', 'batch_ended'),
);

export const ApiBatchFile = (file: 'output' | 'errors') =>
  ApiCall(
    `Read the ${file} of a batch of any key`,
    'Needs the scope `payloads`, and is audited. While the batch runs, it has the lines that are done so far.',
    ApiOkResponse({
      description: 'The lines, each a JSON object.',
      content: { 'application/x-ndjson': { schema: { type: 'string' } } },
    }),
    ApiProblems('batch_not_found'),
  );
