import { ApiProperty, type ApiPropertyOptions, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { problemCodes } from '../../errors/problem-codes.js';

export const codeNames = Object.keys(problemCodes);

export const modelDetails = {
  description: 'The model’s own error, as any JSON value.',
  allOf: [{ $ref: '#/components/schemas/JsonValue' }],
  example: { reason: 'the prompt was refused' },
};

const path = { format: 'uri-reference' };

/** A property that an answer always has. */
export function Field(
  description: string,
  example: unknown,
  more: ApiPropertyOptions = {},
): PropertyDecorator {
  return ApiProperty({ description, ...more, example });
}

@ApiSchema({ name: 'FieldError', description: 'A fault at one place of the input.' })
export class FieldErrorDto {
  @Field(
    'The place of the fault: a JSON Pointer (RFC 6901) into the body; empty for the whole body.',
    '/width',
  )
  path!: string;
  @Field('The fault.', 'must be an integer')
  message!: string;
}

@ApiSchema({
  name: 'Problem',
  description: 'An error, as in RFC 9457. Clients decide by `code`, which is stable.',
})
export class ProblemDto {
  @Field('The kind of problem, as the URL of its description.', '/docs/errors#unknown_request', path)
  type!: string;
  @Field('The kind of problem in words. It is the same for every problem of the kind.', 'No such request')
  title!: string;
  @Field('The HTTP status of the answer.', 404, { type: 'integer', minimum: 400, maximum: 599 })
  status!: number;
  @Field('A description of this problem.', 'There is no request 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b.')
  detail!: string;
  @Field(
    'The path of the call. Empty if the call was not valid HTTP.',
    '/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b',
    path,
  )
  instance!: string;
  @Field('The stable name of the kind of problem.', 'unknown_request', { enum: codeNames })
  code!: string;
  @Field('The time of the problem, in UTC.', '2026-03-01T12:00:00.000Z', { format: 'date-time' })
  timestamp!: string;
  @ApiPropertyOptional({
    description: 'With `invalid_input`: every place that does not fit the schema of the model.',
    type: [FieldErrorDto],
  })
  errors?: FieldErrorDto[];
  @ApiPropertyOptional(modelDetails)
  details?: unknown;
}

@ApiSchema({
  name: 'AlreadyCompletedProblem',
  description:
    'A `Problem` with the result of a cancellation. The other answers of a cancellation have the result in ' +
    '`status`; here `status` is the HTTP status (RFC 9457).',
})
export class AlreadyCompletedProblemDto extends ProblemDto {
  @Field('The result of the cancellation. Always the same.', 'ALREADY_COMPLETED', {
    enum: ['ALREADY_COMPLETED'],
  })
  cancel_status!: string;
}
