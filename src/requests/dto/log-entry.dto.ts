import { ApiProperty, ApiSchema } from '@nestjs/swagger';

@ApiSchema({ name: 'LogEntry', description: 'Something that was said while the request was processed.' })
export class LogEntryDto {
  @ApiProperty({ description: 'What was said.', example: 'Drawing line 120 of 512' })
  message!: string;

  @ApiProperty({
    description: 'How severe it is.',
    enum: ['DEBUG', 'INFO', 'WARN', 'ERROR'],
    example: 'INFO',
  })
  level!: string;

  @ApiProperty({
    description: 'Who said it: the queue, the runner, or the model on one of its outputs.',
    enum: ['queue', 'runner', 'stdout', 'stderr'],
    example: 'runner',
  })
  source!: string;

  @ApiProperty({
    description: 'When, in UTC with milliseconds.',
    format: 'date-time',
    example: '2026-03-01T12:00:01.250Z',
  })
  timestamp!: string;
}
