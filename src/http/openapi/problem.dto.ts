import { ApiProperty, type ApiPropertyOptions, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { problemCodes } from '../../errors/problem-codes.js';

export const codeNames = Object.keys(problemCodes);

export const modelDetails = {
  description: 'What the model itself said, as any JSON value.',
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

@ApiSchema({ name: 'FieldError', description: 'One thing wrong with one place of the input.' })
export class FieldErrorDto {
  @Field('Where: a JSON Pointer (RFC 6901) into the body, empty for the whole.', '/width')
  path!: string;
  @Field('What is wrong there.', 'must be an integer')
  message!: string;
}

@ApiSchema({
  name: 'Problem',
  description: 'What went wrong, as RFC 9457 has it. Decide by `code`; it is stable.',
})
export class ProblemDto {
  @Field('Names the kind of problem and says where it is described.', '/docs/errors#unknown_request', path)
  type!: string;
  @Field('The kind of problem in words, always the same.', 'No such request')
  title!: string;
  @Field('The status of the answer.', 404, { type: 'integer', minimum: 400, maximum: 599 })
  status!: number;
  @Field('This problem in words.', 'There is no request 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b.')
  detail!: string;
  @Field(
    'The path that was called; empty if the call was no readable HTTP.',
    '/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b',
    path,
  )
  instance!: string;
  @Field('The stable name of the kind of problem.', 'unknown_request', { enum: codeNames })
  code!: string;
  @Field('When it went wrong, in UTC.', '2026-03-01T12:00:00.000Z', { format: 'date-time' })
  timestamp!: string;
  @ApiPropertyOptional({
    description: 'With `invalid_input`: everything that does not fit the schema of the model.',
    type: [FieldErrorDto],
  })
  errors?: FieldErrorDto[];
  @ApiPropertyOptional(modelDetails)
  details?: unknown;
}

@ApiSchema({
  name: 'AlreadyCompletedProblem',
  description:
    'As `Problem`, and the word that a cancellation answers with: the other two answers have it in `status`, which is the HTTP status here (RFC 9457).',
})
export class AlreadyCompletedProblemDto extends ProblemDto {
  @Field('Always the same.', 'ALREADY_COMPLETED', { enum: ['ALREADY_COMPLETED'] })
  cancel_status!: string;
}
