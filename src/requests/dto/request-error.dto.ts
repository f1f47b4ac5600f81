import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { problemCodes } from '../../errors/problem-codes.js';

@ApiSchema({ name: 'RequestError', description: 'Why a completed request has no response.' })
export class RequestErrorDto {
  @ApiProperty({
    description: 'The stable name of the kind of failure.',
    enum: Object.keys(problemCodes),
    example: 'model_error',
  })
  code!: string;

  @ApiProperty({ description: 'The failure in words.', example: 'The model refused the input.' })
  message!: string;

  @ApiProperty({
    description: 'When it failed, in UTC.',
    format: 'date-time',
    example: '2026-03-01T12:00:02.500Z',
  })
  timestamp!: string;

  @ApiPropertyOptional({
    description: 'What the model itself said, as any JSON value.',
    allOf: [{ $ref: '#/components/schemas/JsonValue' }],
    example: { reason: 'the prompt was refused' },
  })
  details?: unknown;
}
