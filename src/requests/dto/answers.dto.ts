import { ApiProperty, ApiPropertyOptional, ApiSchema, IntersectionType } from '@nestjs/swagger';
import { problemCodes } from '../../errors/problem-codes.js';

@ApiSchema({ name: 'QueuedRequest', description: 'A request in the queue, and where to ask for it.' })
export class QueuedRequestDto {
  @ApiProperty({
    description: 'Unique identifier of the queued request, a UUIDv7; used in all request-level paths.',
    format: 'uuid',
    example: '019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b',
  })
  request_id!: string;

  @ApiProperty({
    description: 'Where the response is, once the request has completed.',
    format: 'uri',
    example: 'http://127.0.0.1:3000/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b',
  })
  response_url!: string;

  @ApiProperty({
    description: 'Where the status is read; add /stream to follow it.',
    format: 'uri',
    example: 'http://127.0.0.1:3000/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b/status',
  })
  status_url!: string;

  @ApiProperty({
    description: 'Where the request is cancelled, with PUT.',
    format: 'uri',
    example: 'http://127.0.0.1:3000/v1/queue/requests/019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b/cancel',
  })
  cancel_url!: string;
}

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

  @ApiProperty({ description: 'Why not, if not.', type: RequestErrorDto, nullable: true })
  error!: RequestErrorDto | null;
}

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

@ApiSchema({
  name: 'ResponseWithLogs',
  description: 'The response of a request with what there is to say about it.',
})
export class ResponseWithLogsDto {
  @ApiProperty({
    description: 'The request.',
    format: 'uuid',
    example: '019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b',
  })
  request_id!: string;

  @ApiProperty({ description: 'The state.', enum: ['COMPLETED'], example: 'COMPLETED' })
  status!: string;

  @ApiProperty({
    description: 'The model’s output, as any JSON value.',
    allOf: [{ $ref: '#/components/schemas/JsonValue' }],
    example: { image: { url: 'data:image/png;base64,…', width: 512, height: 512 }, seed: 7 },
  })
  response!: unknown;

  @ApiProperty({ description: 'Oldest first.', type: [LogEntryDto] })
  logs!: LogEntryDto[];

  @ApiProperty({ description: 'What was measured.', type: FinalMetricsDto })
  metrics!: FinalMetricsDto;
}
