import { ApiProperty, ApiSchema } from '@nestjs/swagger';

@ApiSchema({ name: 'CancelResult', description: 'What became of a cancellation.' })
export class CancelResponseDto {
  @ApiProperty({
    description:
      'CANCELLED: the request will never start, or was cancelled before. ' +
      'CANCELLATION_REQUESTED: it is running and was told to stop; what it does then decides the outcome.',
    enum: ['CANCELLED', 'CANCELLATION_REQUESTED'],
    example: 'CANCELLED',
  })
  status!: 'CANCELLED' | 'CANCELLATION_REQUESTED';
}
