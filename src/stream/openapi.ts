import { applyDecorators } from '@nestjs/common';
import {
  ApiExtraModels,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiProperty,
  ApiSchema,
  getSchemaPath,
} from '@nestjs/swagger';
import { Field } from '../http/openapi/problem.dto.js';
import { ApiRequestCall } from '../requests/openapi/operations.js';

@ApiSchema({
  name: 'OutputDelta',
  description: 'A part of an output that grows, as the `data` of an event `output`.',
})
class OutputDeltaDto {
  @Field('Counts from 0 within an attempt, without a hole.', 7, { type: 'integer', minimum: 0 })
  index!: number;
  @ApiProperty({
    description: 'Any JSON value. Strings that followed each other within 100 ms come as one.',
    allOf: [{ $ref: '#/components/schemas/JsonValue' }],
    example: ' upon a time',
  })
  delta!: unknown;
}

@ApiSchema({
  name: 'OutputReset',
  description: 'What came before does not count: the `data` of an event `reset`.',
})
class OutputResetDto {
  @Field('The attempt that begins anew.', 2, { type: 'integer', minimum: 1 })
  attempt!: number;
}

@ApiSchema({ name: 'OutputDone', description: 'Nothing follows: the `data` of an event `done`.' })
class OutputDoneDto {
  @Field('Whether there is a response to fetch; why not, the status says.', true)
  success!: boolean;
}

export const ApiOutputStream = (): MethodDecorator =>
  applyDecorators(
    ApiExtraModels(OutputDeltaDto, OutputResetDto, OutputDoneDto),
    ApiRequestCall(
      'Read the output of a request while it grows',
      'Server-sent events: `output` for each part that the model gives, in order; `reset` when another attempt ' +
        'begins, and what came before does not count; `done` at the end, then the server closes. A part is committed ' +
        'before it is sent: after any `id` that was seen the stream goes on, from any node, without a hole or a ' +
        'repetition. A model that gives no parts has its whole output in one event at its end, and so has one that ' +
        'ended more than ten minutes ago. A comment line comes every 15 s. To close the stream cancels nothing. A ' +
        'reconnect after `done` gets 204, which stops an `EventSource`.',
      'bad_request',
      'invalid_query',
    ),
    ApiOkResponse({
      description: 'The stream.',
      content: {
        'text/event-stream': {
          schema: {
            description: 'The `data` of each event.',
            anyOf: [OutputDeltaDto, OutputResetDto, OutputDoneDto].map((one) => ({
              $ref: getSchemaPath(one),
            })),
          },
          example: { index: 7, delta: ' upon a time' },
        },
      },
    }),
    ApiNoContentResponse({ description: 'The caller has seen that it is done.' }),
  );
