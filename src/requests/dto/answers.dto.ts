import { ApiProperty, ApiPropertyOptional, ApiSchema, IntersectionType } from '@nestjs/swagger';
import type { WaitReason } from '../../queue/status-row.js';
import { codeNames, Field, modelDetails } from '../../http/openapi/problem.dto.js';
import { completed, error, estimated, inQueue, logEntry, output, progress } from '../openapi/examples.js';

const uuid = { format: 'uuid' };
const uri = { format: 'uri' };

@ApiSchema({ name: 'QueuedRequest', description: 'A request in the queue, and where to ask for it.' })
export class QueuedRequestDto {
  @Field(
    'Unique identifier of the queued request, a UUIDv7; used in all request-level paths.',
    inQueue.request_id,
    uuid,
  )
  request_id!: string;
  @Field('Where the response is, once the request has completed.', inQueue.response_url, uri)
  response_url!: string;
  @Field('Where the status is read; add /stream to follow it.', inQueue.status_url, uri)
  status_url!: string;
  @Field('Where the request is cancelled, with PUT.', inQueue.cancel_url, uri)
  cancel_url!: string;
}

@ApiSchema({ name: 'LogEntry', description: 'Something that was said while the request was processed.' })
export class LogEntryDto {
  @Field('What was said.', logEntry.message)
  message!: string;
  @Field('How severe it is.', logEntry.level, { enum: ['DEBUG', 'INFO', 'WARN', 'ERROR'] })
  level!: string;
  @Field('Who said it: the queue, the runner, or the model on one of its outputs.', logEntry.source, {
    enum: ['queue', 'runner', 'stdout', 'stderr'],
  })
  source!: string;
  @Field('When, in UTC with milliseconds.', logEntry.timestamp, { format: 'date-time' })
  timestamp!: string;
}

@ApiSchema({ name: 'RequestError', description: 'Why a completed request has no response.' })
export class RequestErrorDto {
  @Field('The stable name of the kind of failure.', error.code, { enum: codeNames })
  code!: string;
  @Field('The failure in words.', error.message)
  message!: string;
  @Field('When it failed, in UTC.', error.timestamp, { format: 'date-time' })
  timestamp!: string;
  @ApiPropertyOptional(modelDetails)
  details?: unknown;
}

const atOrNull = { format: 'date-time', nullable: true };

class Details {
  @Field('The model that it is for.', inQueue.model_id)
  model_id!: string;
  @Field('When it was submitted, in UTC.', inQueue.created_at, { format: 'date-time' })
  created_at!: string;
  @Field('When its last attempt started; null: none did.', null, { type: String, ...atOrNull })
  started_at!: string | null;
  @Field('When it completed; null: it has not.', null, { type: String, ...atOrNull })
  completed_at!: string | null;
  @Field(
    'The attempt that goes on, comes next, or was the last. A start that did not reach the model counts for nothing.',
    1,
    { type: 'integer', minimum: 1 },
  )
  attempt!: number;
  @ApiProperty({
    description: 'As `key:value`, as its submission gave them.',
    type: [String],
    example: ['job:17'],
  })
  tags!: readonly string[];
  @ApiPropertyOptional({
    description: 'When it joins the queue, or did, if its submission said so.',
    format: 'date-time',
  })
  scheduled_at?: string;
  @ApiPropertyOptional({ description: 'The request that it repeats.', format: 'uuid' })
  retry_of?: string;
  @ApiPropertyOptional({
    description: 'The request that repeats it; the last one of several.',
    format: 'uuid',
  })
  retried_as?: string;
  @ApiPropertyOptional({
    description: 'In lists: when its content was erased.',
    format: 'date-time',
  })
  erased_at?: string;
}

class Logs extends Details {
  @ApiPropertyOptional({
    description:
      'With `logs=1`: oldest first, at most 1,000 entries and 64 KiB of text. Empty while in the queue.',
    type: [LogEntryDto],
  })
  logs?: LogEntryDto[];
}

@ApiSchema({ name: 'Progress', description: 'How far the run is, as it said last.' })
export class ProgressDto {
  @Field('From 0 to 1.', progress.value, { type: 'number', minimum: 0, maximum: 1 })
  value!: number;
  @Field('What it is at; null: it did not say.', progress.message, { type: String, nullable: true })
  message!: string | null;
}

@ApiSchema({ name: 'NoMetrics', description: 'Nothing has been measured yet.' })
export class NoMetricsDto {}

@ApiSchema({ name: 'QueueMetrics', description: 'What has been measured so far.' })
export class QueueMetricsDto {
  @Field('Seconds from submission to start.', completed.metrics.queue_time, { type: 'number' })
  queue_time!: number;
}

@ApiSchema({ name: 'FinalMetrics', description: 'What was measured.' })
export class FinalMetricsDto extends QueueMetricsDto {
  @Field('Seconds that the model took; null if the request never ran.', 2.513, {
    type: 'number',
    nullable: true,
  })
  inference_time!: number | null;
}

@ApiSchema({
  name: 'TimeSpan',
  description:
    'When something happens, as far as is known: a time, not a promise. It holds more often than not.',
})
export class TimeSpanDto {
  @Field('Hardly earlier, in UTC.', estimated.start.from, { format: 'date-time' })
  from!: string;
  @Field('Hardly later.', estimated.start.to, { format: 'date-time' })
  to!: string;
}

@ApiSchema({ name: 'InQueueStatus', description: 'The request waits.' })
export class InQueueStatusDto extends IntersectionType(QueuedRequestDto, Logs) {
  @Field('The state.', 'IN_QUEUE', { enum: ['IN_QUEUE'] })
  status!: string;
  @Field('How many requests of the same model will be started before this one: 0 at the front.', 0, {
    type: 'integer',
    minimum: 0,
  })
  queue_position!: number;
  @ApiProperty({ description: 'Empty.', type: NoMetricsDto })
  metrics!: NoMetricsDto;
  @Field(
    'What it waits for: slots of the model (`busy`), a model that is away (`unavailable`) or paused, its time ' +
      '(`scheduled`), or the pause before its next attempt (`retrying`).',
    'busy',
    { enum: ['busy', 'unavailable', 'paused', 'scheduled', 'retrying'] },
  )
  reason!: WaitReason;
  @ApiPropertyOptional({
    description:
      'When it starts: an estimate from how long runs take, what waits before it and how often others come in ' +
      'before. Absent while too little is known, or it waits for something else than slots.',
    type: TimeSpanDto,
    example: estimated.start,
  })
  estimated_start?: TimeSpanDto;
  @ApiPropertyOptional({
    description: 'When it ends, if its next attempt is the last. Absent as `estimated_start` is.',
    type: TimeSpanDto,
    example: estimated.end,
  })
  estimated_end?: TimeSpanDto;
}

@ApiSchema({ name: 'InProgressStatus', description: 'The request is being processed.' })
export class InProgressStatusDto extends IntersectionType(QueuedRequestDto, Logs) {
  @Field('The state.', 'IN_PROGRESS', { enum: ['IN_PROGRESS'] })
  status!: string;
  @ApiProperty({ description: 'What has been measured so far.', type: QueueMetricsDto })
  metrics!: QueueMetricsDto;
  @ApiPropertyOptional({
    description: 'How far the run is; absent until it says so.',
    type: ProgressDto,
    example: progress,
  })
  progress?: ProgressDto;
  @ApiPropertyOptional({
    description: 'When it ends: an estimate from how long other runs took. Absent while too little is known.',
    type: TimeSpanDto,
    example: estimated.end,
  })
  estimated_end?: TimeSpanDto;
}

@ApiSchema({ name: 'CompletedStatus', description: 'The request has ended; nothing changes it any more.' })
export class CompletedStatusDto extends IntersectionType(QueuedRequestDto, Logs) {
  @Field('The state.', 'COMPLETED', { enum: ['COMPLETED'] })
  status!: string;
  @ApiProperty({ description: 'What was measured.', type: FinalMetricsDto })
  metrics!: FinalMetricsDto;
  @Field('Whether there is a response to fetch.', true)
  success!: boolean;
  @ApiProperty({ description: 'Why not, if not.', type: RequestErrorDto, nullable: true })
  error!: RequestErrorDto | null;
}

@ApiSchema({
  name: 'CompletedSubmission',
  description: 'The status of a request that completed while its submission waited, and its output.',
})
export class CompletedSubmissionDto extends CompletedStatusDto {
  @ApiPropertyOptional({
    description: 'The model’s output as it is, as any JSON value; absent if the request has none.',
    allOf: [{ $ref: '#/components/schemas/JsonValue' }],
    example: output,
  })
  response?: unknown;
}

@ApiSchema({ name: 'CancelResult', description: 'What became of a cancellation.' })
export class CancelResponseDto {
  @Field(
    'CANCELLED: the request will never start, or was cancelled before. ' +
      'CANCELLATION_REQUESTED: it is running and was asked to stop; what it does then decides the outcome.',
    'CANCELLED',
    { enum: ['CANCELLED', 'CANCELLATION_REQUESTED'] },
  )
  status!: 'CANCELLED' | 'CANCELLATION_REQUESTED';
}

@ApiSchema({
  name: 'ResponseWithLogs',
  description: 'The response of a request with what there is to say about it.',
})
export class ResponseWithLogsDto {
  @Field('The request.', inQueue.request_id, uuid)
  request_id!: string;
  @Field('The state.', 'COMPLETED', { enum: ['COMPLETED'] })
  status!: string;
  @Field(
    'The model’s output, as any JSON value.',
    { image: { url: 'data:image/png;base64,…', width: 512, height: 512 }, seed: 7 },
    { allOf: [{ $ref: '#/components/schemas/JsonValue' }] },
  )
  response!: unknown;
  @ApiProperty({ description: 'Oldest first.', type: [LogEntryDto] })
  logs!: LogEntryDto[];
  @ApiProperty({ description: 'What was measured.', type: FinalMetricsDto })
  metrics!: FinalMetricsDto;
}
