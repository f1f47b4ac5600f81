import {
  ApiAcceptedResponse,
  ApiExtension,
  ApiExtraModels,
  ApiNoContentResponse,
  ApiOkResponse,
  getSchemaPath,
} from '@nestjs/swagger';
import { applyDecorators } from '@nestjs/common';
import { bodyOptions } from '../../http/input/body.js';
import { ApiBodyForms, ApiCall, ApiJsonBody, ApiProblems } from '../../http/openapi/operations.js';
import { ApiList } from '../../http/openapi/page.dto.js';
import { ApiOptions } from '../../http/openapi/parameters.js';
import { headerReferences } from '../../http/openapi/responses.js';
import {
  BatchCompletedEventDto,
  BatchDto,
  BatchLineDto,
  BatchPageDto,
  NewBatchDto,
  NewBatchQuery,
} from '../dto/batches.dto.js';

const examples = Object.fromEntries(
  Object.entries(bodyOptions(NewBatchDto).examples ?? {}).map(([name, value]) => [name, { value }]),
);

const exampleLines = [1, 2].map((page) => ({ custom_id: `page-${page}`, input: { page } }));

const webhooks = {
  'batch.completed': {
    summary: 'A batch has ended, however it ended',
    description: 'See docs/webhooks.md for its headers and its signature.',
    schema: getSchemaPath(BatchCompletedEventDto),
  },
};

export const ApiCreateBatch = applyDecorators(
  ApiOptions(NewBatchQuery),
  ApiExtraModels(BatchLineDto, BatchCompletedEventDto, NewBatchDto),
  ApiExtension('x-webhooks', webhooks),
  ApiJsonBody('json and options'),
  ApiCall(
    'Make a batch',
    'Each line becomes a request of the key. The lines come as a list, as a file, or as the body itself, in ' +
      '`application/x-ndjson`. The options are then query parameters; with a JSON body they are its members. Nothing is ' +
      'submitted before the whole input is found to be valid. The lines count against `RATE_LIMIT_BATCH`, and wait for it. The batch survives any crash: no line is lost, and no line that has ' +
      'finished runs again.',
    ApiBodyForms({
      'application/json': { schema: { $ref: getSchemaPath(NewBatchDto) }, examples },
      'application/x-ndjson': {
        schema: {
          type: 'string',
          description:
            'One JSON object per line, in the form of `BatchLine`. The options are query parameters.',
        },
        example: exampleLines.map((line) => `${JSON.stringify(line)}\n`).join(''),
      },
    }),
    ApiAcceptedResponse({
      description: 'The batch is stored.',
      type: BatchDto,
      headers: headerReferences(['Location', 'Idempotent-Replayed']),
    }),
    ApiProblems(
      'unknown_model',
      'input_file_not_found',
      'invalid_upload',
      'invalid_idempotency_key',
      'idempotency_key_reused',
      'queue_full',
      'storage_full',
      'caller_busy',
      'overloaded',
    ),
  ),
);

export const ApiBatches = ApiList('List the batches of the key', 'Newest first.', BatchPageDto);

export const ApiReadBatch = ApiCall(
  'Read a batch',
  'The counts are exact at the moment of the call.',
  ApiOkResponse({ description: 'The batch.', type: BatchDto }),
  ApiProblems('batch_not_found'),
);

export const ApiCancelBatch = ApiCall(
  'Cancel a batch',
  'Idempotent. Waiting lines are over at once, and runs are asked to stop. Lines that are not done are written to the ' +
    'error file with the code `batch_cancelled`, so that output and errors together have all lines.',
  ApiOkResponse({ description: 'The batch is cancelled.', type: BatchDto }),
  ApiAcceptedResponse({ description: 'The batch is being cancelled.', type: BatchDto }),
  ApiProblems('batch_not_found', 'batch_ended'),
);

export const ApiRemoveBatch = ApiCall(
  'Delete a batch that has ended',
  'Deletes the batch and its files. Its requests are kept and erased as any others.',
  ApiNoContentResponse({ description: 'The batch is deleted.' }),
  ApiProblems('batch_not_found', 'conflict'),
);

const lines = (description: string, example: object): MethodDecorator =>
  ApiOkResponse({
    description,
    content: {
      'application/x-ndjson': { schema: { type: 'string' }, example: `${JSON.stringify(example)}\n` },
    },
  });

const requestId = '019b76da-a800-7c3e-9f1a-4d5e6f708192';

export const ApiBatchOutput = ApiCall(
  'Read the output of a batch',
  'One JSON object per line that has succeeded, in the order in which they finished. While the batch runs, it is the output ' +
    'so far.',
  lines('The lines.', { custom_id: 'page-1', request_id: requestId, output: { text: 'a spiral' } }),
  ApiProblems('batch_not_found', 'caller_busy', 'overloaded'),
);

export const ApiBatchErrors = ApiCall(
  'Read the errors of a batch',
  'One JSON object per line without an output. Its `error` has the code and the sentence of the problem, or the code ' +
    '`batch_cancelled` or `batch_expired`. If the model refused the input, `model_status` and `model_body` have its answer. ' +
    'A `request_id` that is null: the line was not submitted. If the input file was lost before the line was read, ' +
    'the code is `input_file_not_found` and `custom_id` is an empty text.',
  lines('The lines.', {
    custom_id: 'page-2',
    request_id: requestId,
    error: { code: 'model_error', message: 'The model answered 422.', model_status: 422, model_body: 'no' },
  }),
  ApiProblems('batch_not_found', 'caller_busy', 'overloaded'),
);
