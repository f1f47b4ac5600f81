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
  description: 'A part of a growing output: the `data` of an event `output`.',
})
class OutputDeltaDto {
  @Field('The number of the part, from 0 within an attempt, without a gap.', 7, {
    type: 'integer',
    minimum: 0,
  })
  index!: number;
  @ApiProperty({
    description: 'The part, as any JSON value. Strings that followed each other within 100 ms are joined.',
    allOf: [{ $ref: '#/components/schemas/JsonValue' }],
    example: ' upon a time',
  })
  delta!: unknown;
}

@ApiSchema({
  name: 'OutputReset',
  description: 'Invalidates all earlier parts: the `data` of an event `reset`.',
})
class OutputResetDto {
  @Field('The attempt that begins.', 2, { type: 'integer', minimum: 1 })
  attempt!: number;
}

@ApiSchema({ name: 'OutputDone', description: 'The end of the output: the `data` of an event `done`.' })
class OutputDoneDto {
  @Field('True if there is a response to fetch. If not, the status has the reason.', true)
  success!: boolean;
}

export const ApiOutputStream = applyDecorators(
  ApiExtraModels(OutputDeltaDto, OutputResetDto, OutputDoneDto),
  ApiRequestCall(
    'Follow the output of a request',
    'Server-sent events. `output` carries a part of the output, in order. `reset` comes when another attempt ' +
      'begins, and invalidates the earlier parts. `done` comes at the end; then the server closes the stream. ' +
      'A part is committed before it is sent: after any `id` that the client received, any node continues the ' +
      'stream without a gap or a repetition. If a model emits no parts, the whole output comes in one event at ' +
      'the end, as it does if the request ended more than ten minutes ago. A comment line comes every ' +
      '15 s. A client that closes the stream cancels nothing. A reconnect after `done` gets 204, which stops ' +
      'an `EventSource`.',
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
  ApiNoContentResponse({ description: 'The client has received the event `done`.' }),
);
