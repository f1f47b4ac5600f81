import { ApiProperty, ApiPropertyOptional, ApiSchema, IntersectionType } from '@nestjs/swagger';
import { LogEntryDto } from './log-entry.dto.js';
import { QueuedRequestDto } from './queued-request.dto.js';
import { RequestErrorDto } from './request-error.dto.js';

class Logs {
  @ApiPropertyOptional({
    description:
      'With `logs=1`: oldest first, at most 1,000 entries and 64 KiB of text. Empty while in the queue.',
    type: [LogEntryDto],
  })
  logs?: LogEntryDto[];
}

@ApiSchema({ name: 'NoMetrics', description: 'Nothing has been measured yet.' })
export class NoMetricsDto {}

@ApiSchema({ name: 'QueueMetrics', description: 'What has been measured so far.' })
export class QueueMetricsDto {
  @ApiProperty({ description: 'Seconds from submission to start.', type: 'number', example: 0.042 })
  queue_time!: number;
}

@ApiSchema({ name: 'FinalMetrics', description: 'What was measured.' })
export class FinalMetricsDto extends QueueMetricsDto {
  @ApiProperty({
    description: 'Seconds that the model took; null if the request never ran.',
    type: 'number',
    nullable: true,
    example: 2.513,
  })
  inference_time!: number | null;
}

@ApiSchema({ name: 'InQueueStatus', description: 'The request waits.' })
export class InQueueStatusDto extends IntersectionType(QueuedRequestDto, Logs) {
  @ApiProperty({ description: 'The state.', enum: ['IN_QUEUE'], example: 'IN_QUEUE' })
  status!: string;

  @ApiProperty({
    description: 'How many requests of the same model will be started before this one: 0 at the front.',
    type: 'integer',
    minimum: 0,
    example: 0,
  })
  queue_position!: number;

  @ApiProperty({ description: 'Empty.', type: NoMetricsDto })
  metrics!: NoMetricsDto;
}

@ApiSchema({ name: 'InProgressStatus', description: 'The request is being processed.' })
export class InProgressStatusDto extends IntersectionType(QueuedRequestDto, Logs) {
  @ApiProperty({ description: 'The state.', enum: ['IN_PROGRESS'], example: 'IN_PROGRESS' })
  status!: string;

  @ApiProperty({ description: 'What has been measured so far.', type: QueueMetricsDto })
  metrics!: QueueMetricsDto;
}

@ApiSchema({ name: 'CompletedStatus', description: 'The request has ended; nothing changes it any more.' })
export class CompletedStatusDto extends IntersectionType(QueuedRequestDto, Logs) {
  @ApiProperty({ description: 'The state.', enum: ['COMPLETED'], example: 'COMPLETED' })
  status!: string;

  @ApiProperty({ description: 'What was measured.', type: FinalMetricsDto })
  metrics!: FinalMetricsDto;

  @ApiProperty({ description: 'Whether there is a response to fetch.', example: true })
  success!: boolean;

  @ApiProperty({
    description: 'Why not, if not.',
    type: RequestErrorDto,
    nullable: true,
  })
  error!: RequestErrorDto | null;
}

/** What a status object can be. */
export const statusDtos = [InQueueStatusDto, InProgressStatusDto, CompletedStatusDto];
