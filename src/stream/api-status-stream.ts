import { applyDecorators } from '@nestjs/common';
import { ApiNoContentResponse, ApiOkResponse } from '@nestjs/swagger';
import { completed, inProgress, inQueue } from '../requests/openapi/examples.js';
import { ApiRequestCall, statusSchema } from '../requests/openapi/operations.js';

const events = [inQueue, inProgress, completed]
  .map((status, index) => `id: ${41 + index}\ndata: ${JSON.stringify(status)}\n\n`)
  .join('');

export const ApiStatusStream = (): MethodDecorator =>
  applyDecorators(
    ApiRequestCall(
      'Follow the status of a request until it completes',
      'Server-sent events without a name, for `EventSource` and `curl -N`. The `data` of each is a status object: ' +
        'the first at once, the next whenever the state, the position or, with `logs=1`, the log changes. With ' +
        '`logs=1` an event carries only the entries that the stream has not carried before. A comment line comes ' +
        'every 15 s. After COMPLETED the server closes; a reconnect then gets 204, which stops an `EventSource`.',
      'invalid_query',
    ),
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
  );
