import { applyDecorators } from '@nestjs/common';
import { ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiLimited, ApiProblems } from '../http/openapi/decorators.js';
import { statusSchema } from '../requests/openapi/api-status.js';
import { completedExample, inProgressExample, inQueueExample } from '../requests/openapi/examples.js';
import { ApiRequestId, keyWelcome, type RouteDecorator } from '../requests/openapi/parameters.js';

const events = [inQueueExample, inProgressExample, completedExample]
  .map((status, index) => `id: ${41 + index}\ndata: ${JSON.stringify(status)}\n\n`)
  .join('');

export const ApiStatusStream = (): RouteDecorator =>
  applyDecorators(
    ApiTags('Stream'),
    ApiOperation({
      operationId: 'stream',
      summary: 'Follow the status of a request until it completes',
      description:
        'Server-sent events without a name, for `EventSource` and `curl -N`. The `data` of each is a status object: ' +
        'the first at once, the next whenever the state, the position or, with `logs=1`, the log changes. With ' +
        '`logs=1` an event carries only the entries that the stream has not carried before. A comment line comes ' +
        'every 15 s. After COMPLETED the server closes; a reconnect then gets 204, which stops an `EventSource`.',
      security: keyWelcome,
    }),
    ApiRequestId(),
    ApiOkResponse({
      description: 'The stream.',
      content: {
        'text/event-stream': {
          schema: {
            type: 'string',
            description:
              'Events as the HTML standard has them; `x-event-data` is the schema of their `data`.',
            'x-event-data': statusSchema,
          } as object,
          example: events,
        },
      },
    }),
    ApiNoContentResponse({ description: 'The request has completed and the caller has seen that event.' }),
    ApiProblems('invalid_query', 'missing_key', 'invalid_key', 'forbidden', 'unknown_request', 'gone'),
    ApiLimited(),
  );
