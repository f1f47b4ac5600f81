import { ApiProperty, ApiPropertyOptional, ApiSchema, IntersectionType } from '@nestjs/swagger';
import type { WaitReason } from '../../queue/reads/status-row.js';
import { codeNames, Field, modelDetails } from '../../http/openapi/problem.dto.js';
import { completed, error, estimated, inQueue, logEntry, output, progress } from '../openapi/examples.js';

const uuid = { format: 'uuid' };
const uri = { format: 'uri' };

@ApiSchema({ name: 'QueuedRequest', description: 'A request in the queue, with its URLs.' })
export class QueuedRequestDto {
  @Field(
    'Unique identifier of the queued request, a UUIDv7; used in all request-level paths.',
    inQueue.request_id,
    uuid,
  )
  request_id!: string;
  @Field('The URL of the response, which exists once the request has completed.', inQueue.response_url, uri)
  response_url!: string;
  @Field('The URL of the status; add /stream to follow it.', inQueue.status_url, uri)
  status_url!: string;
  @Field('The URL that cancels the request, with PUT.', inQueue.cancel_url, uri)
  cancel_url!: string;
}

@ApiSchema({ name: 'LogEntry', description: 'A log entry of a request.' })
export class LogEntryDto {
  @Field('The text of the entry.', logEntry.message)
  message!: string;
  @Field('The severity of the entry.', logEntry.level, { enum: ['DEBUG', 'INFO', 'WARN', 'ERROR'] })
  level!: string;
  @Field(
    'The origin of the entry: the queue, the runner, or an output stream of the model.',
    logEntry.source,
    {
      enum: ['queue', 'runner', 'stdout', 'stderr'],
    },
  )
  source!: string;
  @Field('The time of the entry, in UTC with milliseconds.', logEntry.timestamp, { format: 'date-time' })
  timestamp!: string;
}

@ApiSchema({ name: 'RequestError', description: 'The reason for which a completed request has no response.' })
export class RequestErrorDto {
  @Field('The stable name of the kind of failure.', error.code, { enum: codeNames })
  code!: string;
  @Field('A description of the failure.', error.message)
  message!: string;
  @Field('The time of the failure, in UTC.', error.timestamp, { format: 'date-time' })
  timestamp!: string;
  @ApiPropertyOptional(modelDetails)
  details?: unknown;
}

const atOrNull = { format: 'date-time', nullable: true };

class Details {
  @Field('The model of the request.', inQueue.model_id)
  model_id!: string;
  @Field('The time at which it was submitted, in UTC.', inQueue.created_at, { format: 'date-time' })
  created_at!: string;
  @Field('The time at which its last attempt started; null: none has started.', null, {
    type: String,
    ...atOrNull,
  })
  started_at!: string | null;
  @Field('The time at which it completed; null: it has not completed.', null, { type: String, ...atOrNull })
  completed_at!: string | null;
  @Field('The current, next or last attempt. A start that did not reach the model does not count.', 1, {
    type: 'integer',
    minimum: 1,
  })
  attempt!: number;
  @ApiProperty({
    description: 'The tags of its submission, as `key:value`.',
    type: [String],
    example: ['job:17'],
  })
  tags!: readonly string[];
  @ApiPropertyOptional({
    description: 'The time at which it joins or joined the queue, if its submission set one.',
    format: 'date-time',
  })
  scheduled_at?: string;
  @ApiPropertyOptional({ description: 'The request that this one repeats.', format: 'uuid' })
  retry_of?: string;
  @ApiPropertyOptional({
    description: 'The request that repeats this one. If there are several, the last one.',
    format: 'uuid',
  })
  retried_as?: string;
  @ApiPropertyOptional({
    description: 'The time at which its content was erased. Only in lists.',
    format: 'date-time',
  })
  erased_at?: string;
}

class Logs extends Details {
  @ApiPropertyOptional({
    description:
      'The log, with `logs=1`: oldest first, at most 1,000 entries and 64 KiB of text. Empty while in the queue.',
    type: [LogEntryDto],
  })
  logs?: LogEntryDto[];
}

@ApiSchema({ name: 'Progress', description: 'The progress of the run, as the run last reported it.' })
export class ProgressDto {
  @Field('The progress, from 0 to 1.', progress.value, { type: 'number', minimum: 0, maximum: 1 })
  value!: number;
  @Field('The current step of the run; null: the run did not report one.', progress.message, {
    type: String,
    nullable: true,
  })
  message!: string | null;
}

@ApiSchema({ name: 'NoMetrics', description: 'Nothing has been measured yet.' })
export class NoMetricsDto {}

@ApiSchema({ name: 'QueueMetrics', description: 'The measurements so far.' })
export class QueueMetricsDto {
  @Field('The time from submission to start, in seconds.', completed.metrics.queue_time, { type: 'number' })
  queue_time!: number;
}

@ApiSchema({ name: 'FinalMetrics', description: 'The final measurements.' })
export class FinalMetricsDto extends QueueMetricsDto {
  @Field('The time that the model took, in seconds; null: the request never ran.', 2.513, {
    type: 'number',
    nullable: true,
  })
  inference_time!: number | null;
  @ApiPropertyOptional({
    description:
      'What the last attempt used, such as tokens: whole numbers by name, nested names joined by a point. Absent if the ' +
      'model reports no usage.',
    type: 'object',
    additionalProperties: { type: 'integer' },
    example: { prompt_tokens: 12, completion_tokens: 48 },
  })
  usage?: Record<string, number>;
}

@ApiSchema({
  name: 'TimeSpan',
  description:
    'The interval in which an event is likely: an estimate, not a promise. It is right more often than not.',
})
export class TimeSpanDto {
  @Field('The event is unlikely to happen before this time, in UTC.', estimated.start.from, {
    format: 'date-time',
  })
  from!: string;
  @Field('The event is unlikely to happen after this time.', estimated.start.to, { format: 'date-time' })
  to!: string;
}

@ApiSchema({ name: 'InQueueStatus', description: 'The status of a request that waits.' })
export class InQueueStatusDto extends IntersectionType(QueuedRequestDto, Logs) {
  @Field('The state.', 'IN_QUEUE', { enum: ['IN_QUEUE'] })
  status!: string;
  @Field('The number of requests of the same model that will start before this one; 0 at the front.', 0, {
    type: 'integer',
    minimum: 0,
  })
  queue_position!: number;
  @ApiProperty({ description: 'No measurements yet.', type: NoMetricsDto })
  metrics!: NoMetricsDto;
  @Field(
    'The reason for which it waits: slots of the model (`busy`), a model that is not reachable ' +
      '(`unavailable`) or paused, its scheduled time (`scheduled`), or the pause before its next attempt ' +
      '(`retrying`).',
    'busy',
    { enum: ['busy', 'unavailable', 'paused', 'scheduled', 'retrying'] },
  )
  reason!: WaitReason;
  @ApiPropertyOptional({
    description:
      'The estimated start, from the duration of runs, the requests before it, and the rate at which other ' +
      'requests join before it. Absent if too little is known, or if it waits for something other than slots.',
    type: TimeSpanDto,
    example: estimated.start,
  })
  estimated_start?: TimeSpanDto;
  @ApiPropertyOptional({
    description:
      'The estimated end, if its next attempt is the last. Absent under the same conditions as `estimated_start`.',
    type: TimeSpanDto,
    example: estimated.end,
  })
  estimated_end?: TimeSpanDto;
}

@ApiSchema({ name: 'InProgressStatus', description: 'The status of a request that is running.' })
export class InProgressStatusDto extends IntersectionType(QueuedRequestDto, Logs) {
  @Field('The state.', 'IN_PROGRESS', { enum: ['IN_PROGRESS'] })
  status!: string;
  @ApiProperty({ description: 'The measurements so far.', type: QueueMetricsDto })
  metrics!: QueueMetricsDto;
  @ApiPropertyOptional({
    description: 'The progress of the run. Absent until the run reports it.',
    type: ProgressDto,
    example: progress,
  })
  progress?: ProgressDto;
  @ApiPropertyOptional({
    description: 'The estimated end, from the duration of other runs. Absent if too little is known.',
    type: TimeSpanDto,
    example: estimated.end,
  })
  estimated_end?: TimeSpanDto;
}

@ApiSchema({
  name: 'CompletedStatus',
  description: 'The status of a request that has ended. It does not change any more.',
})
export class CompletedStatusDto extends IntersectionType(QueuedRequestDto, Logs) {
  @Field('The state.', 'COMPLETED', { enum: ['COMPLETED'] })
  status!: string;
  @ApiProperty({ description: 'The final measurements.', type: FinalMetricsDto })
  metrics!: FinalMetricsDto;
  @Field('True if there is a response to fetch.', true)
  success!: boolean;
  @ApiProperty({
    description: 'The error, if the request did not succeed.',
    type: RequestErrorDto,
    nullable: true,
  })
  error!: RequestErrorDto | null;
}

@ApiSchema({
  name: 'CompletedSubmission',
  description: 'The status of a request that completed while its submission waited, and its output.',
})
export class CompletedSubmissionDto extends CompletedStatusDto {
  @ApiPropertyOptional({
    description: 'The model’s output unchanged, as any JSON value; absent if the request has none.',
    allOf: [{ $ref: '#/components/schemas/JsonValue' }],
    example: output,
  })
  response?: unknown;
}

@ApiSchema({ name: 'CancelAnswer', description: 'The result of a cancellation.' })
export class CancelResponseDto {
  @Field(
    'CANCELLED: the request will never start, or was cancelled before. CANCELLATION_REQUESTED: the request ' +
      'is running and was asked to stop; its run decides the outcome.',
    'CANCELLED',
    { enum: ['CANCELLED', 'CANCELLATION_REQUESTED'] },
  )
  status!: 'CANCELLED' | 'CANCELLATION_REQUESTED';
}

@ApiSchema({
  name: 'ResponseWithLogs',
  description: 'The response of a request, with its log and measurements.',
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
  @ApiProperty({ description: 'The log, oldest first.', type: [LogEntryDto] })
  logs!: LogEntryDto[];
  @ApiProperty({ description: 'The final measurements.', type: FinalMetricsDto })
  metrics!: FinalMetricsDto;
}
