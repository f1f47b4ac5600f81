import { applyDecorators } from '@nestjs/common';
import { ApiAcceptedResponse, ApiBody, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { ApiLimited, ApiProblems } from '../../http/openapi/decorators.js';
import { QueuedRequestDto } from '../dto/status.dto.js';
import { keyNeeded, type RouteDecorator } from './parameters.js';

export const ApiSubmit = (): RouteDecorator =>
  applyDecorators(
    ApiTags('Requests'),
    ApiOperation({
      operationId: 'submit',
      summary: 'Add a request to the queue',
      description:
        'Answers as soon as the request is on disk. The body is read as JSON whatever its content type says; gzip, ' +
        'deflate and br are decoded.\n\n' +
        'The model id is part of the path, slashes and all: `POST /v1/queue/demo/image/fractal`. A client may ' +
        'encode them as `%2F`, as generated ones do: it is the same model.',
      security: keyNeeded,
    }),
    ApiParam({
      name: 'path',
      description:
        '1 to 8 segments joined by `/` or `%2F`; each is a letter or digit, then up to 63 ' +
        'letters, digits, dots, underscores or hyphens. The first is never `requests`.',
      schema: {
        type: 'string',
        maxLength: 256,
        pattern: '^(?!requests(/|$))[A-Za-z0-9][A-Za-z0-9._-]{0,63}(/[A-Za-z0-9][A-Za-z0-9._-]{0,63}){0,7}$',
        example: 'demo/image/fractal',
      },
    }),
    ApiBody({
      description: 'The input of the model: a JSON object that fits its schema.',
      required: true,
      schema: { type: 'object', additionalProperties: true },
      examples: {
        fractal: {
          summary: 'A picture from demo/image/fractal',
          value: { prompt: 'a spiral of light', width: 512, height: 512 },
        },
        echo: { summary: 'Anything to demo/text/echo', value: { prompt: 'hello' } },
      },
    }),
    ApiAcceptedResponse({
      description: 'The request is in the queue.',
      type: QueuedRequestDto,
      headers: {
        Location: { $ref: '#/components/headers/Location' } as object,
        'Idempotent-Replayed': { $ref: '#/components/headers/Idempotent-Replayed' } as object,
      },
    }),
    ApiProblems(
      'bad_request',
      'invalid_json',
      'missing_key',
      'invalid_key',
      'forbidden',
      'unknown_model',
      'body_too_large',
      'unsupported_encoding',
      'invalid_input',
      'invalid_idempotency_key',
      'idempotency_key_reused',
    ),
    ApiLimited('submit'),
  );
