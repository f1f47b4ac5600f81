import { applyDecorators } from '@nestjs/common';
import {
  ApiAcceptedResponse,
  ApiBody,
  ApiHeader,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiParam,
} from '@nestjs/swagger';
import type { ProblemCode } from '../errors/problem-codes.js';
import { InitiatedUploadDto } from '../files/dto/files.dto.js';
import { ApiBodyForms, ApiCall, ApiProblems } from '../http/openapi/operations.js';
import { exampleId, headerReferences } from '../http/openapi/responses.js';
import * as dto from './dto.js';
import { maxBeatSeconds, maxClaimSeconds } from './worker-calls.js';

const ApiLongPoll = (seconds: number, description: string): MethodDecorator =>
  ApiHeader({
    name: 'Prefer',
    required: false,
    description: `\`wait=n\` (RFC 7240), \`n\` at most ${seconds}: ${description}`,
    schema: { type: 'string', example: `wait=${seconds}` },
  });

const ApiRun = (summary: string, description: string, ...problems: ProblemCode[]): MethodDecorator =>
  ApiCall(
    summary,
    description,
    ApiParam({
      name: 'request_id',
      description: 'The `request_id` of the run.',
      schema: { type: 'string', example: exampleId },
    }),
    ApiHeader({
      name: 'Lease-Token',
      required: true,
      description: 'The `lease_token` of the run.',
      schema: { type: 'string', example: 'AZqhsnw9fk-KW2x9jp8KG8D4mZ5k8kYJjW0yqC2nT5E' },
    }),
    ApiProblems('bad_request', 'lease_lost', ...problems),
  );

const taken = {
  description: 'The call was accepted, now or before.',
  schema: { type: 'object' },
  example: {},
} as const;

export const ApiClaimRuns = ApiCall(
  'Claim runs',
  'Claims the first requests that wait for models of the worker. If none waits, the answer is 204, at once ' +
    'or when the time of `Prefer: wait=n` is over. If the answer to a claim was lost, send the claim again ' +
    'unchanged; it gets the same runs.',
  ApiLongPoll(maxClaimSeconds, 'the answer may come up to `n` seconds later, as soon as there is a run.'),
  ApiOkResponse({
    description: 'The runs, at least one.',
    type: dto.ClaimedRunsDto,
    headers: headerReferences(['Preference-Applied']),
  }),
  ApiNoContentResponse({
    description: 'No request waited.',
    headers: headerReferences(['Preference-Applied']),
  }),
  ApiProblems(
    'unknown_model',
    'claim_conflict',
    'worker_stopped',
    'worker_resting',
    'caller_busy',
    'overloaded',
  ),
);

export const ApiBeat = ApiCall(
  'Renew leases',
  'A beat that waits is answered at once when a run must stop, when a lease is lost, and when the worker ' +
    'gets a new order.',
  ApiLongPoll(maxBeatSeconds, 'the answer may come up to `n` seconds later.'),
  ApiOkResponse({
    description: 'The leases are renewed, except the lost ones.',
    type: dto.BeatAnswerDto,
    headers: headerReferences(['Preference-Applied']),
  }),
);

export const ApiLeaveWorker = ApiCall(
  'Leave',
  'Runs of the worker go back to their places in the queues: those whose leases the body names, or all of them. Their ' +
    'attempts do not count.',
  ApiParam({
    name: 'worker_id',
    description: 'The `id` of the worker.',
    schema: { type: 'string', example: 'gpu-1' },
  }),
  ApiNoContentResponse({ description: 'The worker no longer has these runs.' }),
  ApiProblems('bad_request'),
);

export const ApiReadRunInput = applyDecorators(
  ApiRun(
    'Fetch the input of a run',
    'Returns the input as it was submitted. Use it for inputs that are too large for the answer to the claim.',
  ),
  ApiOkResponse({
    description: 'The input.',
    content: {
      'application/json': {
        schema: { type: 'object', additionalProperties: true },
        example: { prompt: 'a spiral' },
      },
    },
  }),
);

const events = [
  '{"type":"log","level":"INFO","message":"loaded"}',
  '{"type":"progress","value":0.5,"message":"half"}',
  '{"type":"delta","delta":"Once upon"}',
].join('\n');

export const ApiAppendRunEvents = applyDecorators(
  ApiRun(
    'Report the events of a run',
    'The body has lines of `log`, `progress` and `delta`, in order. Events that were sent before are ' +
      'ignored. If events are missing, the answer is 409 with `next`, the number of the next expected event.',
    'invalid_json',
    'invalid_query',
    'conflict',
    'body_too_large',
    'too_large',
    'unsupported_encoding',
  ),
  ApiBodyForms({
    'application/x-ndjson': {
      schema: { type: 'string', description: 'One JSON object per line.' },
      example: events,
    },
  }),
  ApiAcceptedResponse({ description: 'The events are written.', type: dto.EventsTakenDto }),
);

export const ApiPutOutput = applyDecorators(
  ApiRun(
    'End a run with its output',
    'The output is any JSON value. An empty body stands for the output that the deltas make up. May be ' +
      'repeated. The output is also accepted after a cancel.',
    'invalid_json',
    'conflict',
    'body_too_large',
    'unsupported_encoding',
  ),
  ApiBody({
    description: 'The output.',
    required: false,
    schema: { $ref: '#/components/schemas/JsonValue' },
    examples: { object: { value: { image: 'http://127.0.0.1:3000/v1/files/x/y.png' } } },
  }),
  ApiOkResponse(taken),
);

export const ApiPutFailure = applyDecorators(
  ApiRun(
    'End a run with a failure',
    'The settings of the model decide whether another attempt follows, as for all models. May be repeated.',
    'conflict',
  ),
  ApiOkResponse(taken),
);

export const ApiReleaseRun = applyDecorators(
  ApiRun(
    'Give a run back',
    'The request goes back to its place in the queue. The attempt does not count. With `retry_after_s` it ' +
      'starts again no sooner, for example because what the worker runs still loads. May be repeated.',
    'conflict',
  ),
  ApiNoContentResponse({ description: 'The run is given back.' }),
);

export const ApiInitiateRunFile = applyDecorators(
  ApiRun(
    'Begin the upload of a file of the output',
    'Like `POST /v1/storage/upload/initiate`: PUT the bytes to `upload_url`, and use `file_url` in the ' +
      'output. The file belongs to the key of the request. A file that no output names is deleted after 24 ' +
      'hours.',
    'storage_full',
  ),
  ApiOkResponse({ description: 'The URLs.', type: InitiatedUploadDto }),
);
