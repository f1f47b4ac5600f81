import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { problemCodes } from '../../errors/problem-codes.js';

const codes = Object.keys(problemCodes);

@ApiSchema({ name: 'FieldError', description: 'One thing wrong with one place of the input.' })
export class FieldErrorDto {
  @ApiProperty({
    description: 'Where: a JSON Pointer (RFC 6901) into the body, empty for the whole.',
    example: '/width',
  })
  path!: string;

  @ApiProperty({ description: 'What is wrong there.', example: 'must be integer' })
  message!: string;
}

@ApiSchema({
  name: 'Problem',
  description: 'What went wrong, as RFC 9457 has it. Decide by `code`; it is stable.',
})
export class ProblemDto {
  @ApiProperty({
    description: 'Names the kind of problem and tells where it is described.',
    format: 'uri-reference',
    example: '/docs/errors#unknown_request',
  })
  type!: string;

  @ApiProperty({ description: 'The kind of problem in words, always the same.', example: 'No such request' })
  title!: string;

  @ApiProperty({
    description: 'The status of the answer.',
    type: 'integer',
    minimum: 400,
    maximum: 599,
    example: 404,
  })
  status!: number;

  @ApiProperty({
    description: 'This problem in words.',
    example: 'There is no request 019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b.',
  })
  detail!: string;

  @ApiProperty({
    description: 'The path that was called; empty if the call was no readable HTTP.',
    format: 'uri-reference',
    example: '/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b',
  })
  instance!: string;

  @ApiProperty({
    description: 'The stable name of the kind of problem.',
    enum: codes,
    example: 'unknown_request',
  })
  code!: string;

  @ApiProperty({
    description: 'When it went wrong, in UTC.',
    format: 'date-time',
    example: '2026-03-01T12:00:00.000Z',
  })
  timestamp!: string;

  @ApiPropertyOptional({
    description: 'With `invalid_input`: everything that does not fit the schema of the model.',
    type: [FieldErrorDto],
  })
  errors?: FieldErrorDto[];

  @ApiPropertyOptional({
    description: 'What the model itself said, as any JSON value.',
    allOf: [{ $ref: '#/components/schemas/JsonValue' }],
    example: { reason: 'the prompt was refused' },
  })
  details?: unknown;
}

@ApiSchema({
  name: 'AlreadyCompletedProblem',
  description:
    'As `Problem`, and the word that a cancellation answers with: the other two answers have it in `status`, which is the HTTP status here (RFC 9457).',
})
export class AlreadyCompletedProblemDto extends ProblemDto {
  @ApiProperty({ description: 'Always the same.', enum: ['ALREADY_COMPLETED'], example: 'ALREADY_COMPLETED' })
  cancel_status!: string;
}
