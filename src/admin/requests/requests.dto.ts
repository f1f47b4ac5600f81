import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { PageDto } from '../../http/openapi/page.dto.js';
import { codeNames, Field } from '../../http/openapi/problem.dto.js';
import { KeyNameDto } from '../keys/key-name.dto.js';
import { LogEntryDto, ProgressDto, RequestErrorDto, TimeSpanDto } from '../../requests/dto/answers.dto.js';
import { count, exampleTime, textOrNull, time, timeOrNull } from '../../http/openapi/schemas.js';

const handle = 'rh_Zm9vYmFyYmF6cXV4LTAxMg';

@ApiSchema({
  name: 'AnyMetrics',
  description: 'The measured times of a request, in seconds, and what it used.',
})
export class AnyMetricsDto {
  @ApiPropertyOptional({
    description: 'The time that the request waited. Present once it has started.',
    example: 0.042,
  })
  queue_time?: number;
  @ApiPropertyOptional({
    description: 'The time that the request ran. Present once it has completed; null: it never ran.',
    type: Number,
    nullable: true,
    example: 2.513,
  })
  inference_time?: number | null;
  @ApiPropertyOptional({
    description:
      'What the last attempt used, such as tokens: whole numbers by name. Absent if the model reports no usage.',
    type: 'object',
    additionalProperties: { type: 'integer' },
    example: { prompt_tokens: 12, completion_tokens: 48 },
  })
  usage?: Record<string, number>;
}

@ApiSchema({
  name: 'AnyRequest',
  description:
    'A request of any key, as operators see it. Without the scope `payloads`, its ids are handles, which ' +
    'only `/v1/admin` accepts. Of what its caller and its model wrote, it then has only the tags and the ' +
    'message of its error.',
})
export class AnyRequestDto {
  @Field('The id of the request, or its handle without the scope `payloads`.', handle)
  request_id!: string;
  @Field('The handle of the request, as the log and the audit show it.', handle)
  handle!: string;
  @Field('The state of the request.', 'COMPLETED', { enum: ['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED'] })
  status!: string;
  @Field('The outcome of the request; null: it has not completed.', 'failed', {
    ...textOrNull,
    enum: ['succeeded', 'failed', 'cancelled', 'expired', null],
  })
  outcome!: string | null;
  @Field('The model of the request.', 'demo/image/fractal')
  model_id!: string;
  @ApiProperty({ description: 'The key that submitted it.', type: KeyNameDto })
  key!: KeyNameDto;
  @Field(
    'The name of the node or worker that runs it or ran it last; null: it has not started.',
    'gpu-2',
    textOrNull,
  )
  node!: string | null;
  @Field('The priority of the request.', 'normal', { enum: ['high', 'normal', 'low'] })
  priority!: string;
  @Field('The time at which it was submitted.', exampleTime, time)
  created_at!: string;
  @Field('The time at which its last attempt started; null: none has started.', null, timeOrNull)
  started_at!: string | null;
  @Field('The time at which it completed; null: it has not completed.', null, timeOrNull)
  completed_at!: string | null;
  @Field('The current, next or last attempt.', 1, count)
  attempt!: number;
  @ApiProperty({ description: 'The tags of its submission.', type: [String], example: ['job:17'] })
  tags!: string[];
  @ApiProperty({ description: 'The times measured so far.', type: AnyMetricsDto })
  metrics!: AnyMetricsDto;
  @ApiPropertyOptional({
    description: 'The number of requests that start before it. Present while it waits.',
    ...count,
  })
  queue_position?: number;
  @ApiPropertyOptional({
    description: 'The reason for which it waits. Present while it waits.',
    enum: ['busy', 'unavailable', 'paused', 'scheduled', 'retrying'],
  })
  reason?: string;
  @ApiPropertyOptional({
    description: 'The same estimate as in the status that its caller reads.',
    type: TimeSpanDto,
  })
  estimated_start?: TimeSpanDto;
  @ApiPropertyOptional({
    description: 'The same estimate as in the status that its caller reads.',
    type: TimeSpanDto,
  })
  estimated_end?: TimeSpanDto;
  @ApiPropertyOptional({
    description: 'The progress of its run. Its message is null without the scope `payloads`.',
    type: ProgressDto,
  })
  progress?: ProgressDto;
  @ApiPropertyOptional({ description: 'True if it succeeded. Present once it has completed.' })
  success?: boolean;
  @ApiPropertyOptional({
    description: 'The error of a request that did not succeed. Its message may be the model’s own.',
    type: RequestErrorDto,
    nullable: true,
  })
  error?: RequestErrorDto | null;
  @ApiPropertyOptional({
    description: 'The time at which it joins or joined the queue, if its submission set one.',
    ...time,
  })
  scheduled_at?: string;
  @ApiPropertyOptional({ description: 'The request that this one repeats.' })
  retry_of?: string;
  @ApiPropertyOptional({ description: 'The request that repeats this one.' })
  retried_as?: string;
  @ApiPropertyOptional({ description: 'The time at which its content was erased.', ...time })
  erased_at?: string;
  @ApiPropertyOptional({
    description:
      'The media type of the first picture in its output, if there is one. Present only with the scope `payloads`.',
    ...textOrNull,
    example: 'image/png',
  })
  output_type?: string | null;
}

@ApiSchema({
  name: 'AnyRequestDetails',
  description: 'A request of any key, with the sizes of its payloads.',
})
export class AnyRequestDetailsDto extends AnyRequestDto {
  @Field('The size of the input in bytes of JSON; null: there is none, or it was deleted.', 42, {
    ...count,
    nullable: true,
  })
  input_bytes!: number | null;
  @Field('The size of the output in bytes of JSON; null: there is none, or it was deleted.', 31_457_280, {
    ...count,
    nullable: true,
  })
  output_bytes!: number | null;
  @ApiPropertyOptional({
    description:
      'The number of requests of its key that may run for the model at once. Present while that number is ' +
      'reached and the request waits for it.',
    ...count,
    example: 2,
  })
  held_at?: number;
}

@ApiSchema({ name: 'BoundedCount', description: 'A count of at most 10,000.' })
export class BoundedCountDto {
  @Field('The count, at most 10,000.', 312, count)
  value!: number;
  @Field('false: there are at least this many.', true)
  is_exact!: boolean;
}

@ApiSchema({
  name: 'FailureCount',
  description: 'The failures of one model that have the same code and status.',
})
export class FailureCountDto {
  @Field('The model.', 'demo/image/fractal')
  model_id!: string;
  @Field('The code of the error.', 'model_error')
  code!: string;
  @Field('The number of such failures among the counted requests.', 12, { ...count, minimum: 1 })
  count!: number;
  @Field('The message of the newest one.', 'The model answered 500: no memory', textOrNull)
  message!: string | null;
  @Field('The time at which the newest one completed.', exampleTime, time)
  last_at!: string;
}

@ApiSchema({
  name: 'FoundCount',
  description: 'The number of requests that match, and the causes of the failed ones.',
})
export class FoundCountDto extends BoundedCountDto {
  @ApiPropertyOptional({
    description: 'The causes, with `outcome=failed`: by model and code, most frequent first, at most 20.',
    type: [FailureCountDto],
  })
  failures?: FailureCountDto[];
}

@ApiSchema({ name: 'AnyRequestPage', description: 'A page of the requests of all keys.' })
export class AnyRequestPageDto extends PageDto {
  @ApiProperty({
    description:
      'The requests, newest first. A page may be short or empty although `next_cursor` is not null.',
    type: [AnyRequestDto],
  })
  data!: AnyRequestDto[];
  @ApiPropertyOptional({
    description: 'The number of requests that match. Only on the first page.',
    type: FoundCountDto,
  })
  count?: FoundCountDto;
}

@ApiSchema({ name: 'LifeEvent', description: 'An event in the life of a request.' })
export class LifeEventDto {
  @Field('The number of the event in their order; 0: the submission.', 0, count)
  id!: number;
  @Field('The time of the event.', exampleTime, time)
  at!: string;
  @Field('The kind of event.', 'started', {
    enum: ['submitted', 'started', 'requeued', 'cancel_requested', 'completed'],
  })
  kind!: string;
  @Field('The number of the attempt that the event belongs to.', 1, count)
  attempt!: number;
  @Field('The name of the node or worker that ran the attempt.', 'gpu-2', textOrNull)
  node!: string | null;
  @Field(
    'The outcome of the run, or of the request if it ended while it waited; null: nothing ended.',
    'lost',
    {
      ...textOrNull,
      enum: [
        'succeeded',
        'failed',
        'timed_out',
        'cancelled',
        'expired',
        'returned',
        'lost',
        'unreached',
        null,
      ],
    },
  )
  outcome!: string | null;
  @Field('The code of the error.', 'model_error', { ...textOrNull, enum: [...codeNames, null] })
  code!: string | null;
  @Field(
    'The message of the error, in the model’s own words if the model gave one.',
    'The model answered 500: no memory',
    textOrNull,
  )
  message!: string | null;
  @Field('The time at which that run ended.', null, timeOrNull)
  ended_at!: string | null;
  @Field(
    'After a requeue, the time at which the pause before the next attempt ends or ended; null: there was no ' +
      'pause.',
    null,
    timeOrNull,
  )
  until!: string | null;
}

@ApiSchema({ name: 'PositionPoint', description: 'A position, and the time since which the request had it.' })
export class PositionPointDto {
  @Field('The time since which the request had this position.', exampleTime, time)
  at!: string;
  @Field('The number of requests that were to start before it.', 12, count)
  position!: number;
}

@ApiSchema({ name: 'Life', description: 'The events of a request, oldest first, without its log.' })
export class LifeDto {
  @ApiProperty({ description: 'The events, oldest first.', type: [LifeEventDto] })
  data!: LifeEventDto[];
  @ApiProperty({
    description:
      'How the request moved up, in at most 60 points. Only requests that are still kept count. Empty if the ' +
      'calculation would cost too much.',
    type: [PositionPointDto],
  })
  positions!: PositionPointDto[];
}

@ApiSchema({ name: 'AnyLogEntry', description: 'A line of the log of a request.' })
export class AnyLogEntryDto extends LogEntryDto {
  @Field('The number of the entry in their order.', 17, count)
  id!: number;
  @Field('The number of the attempt that wrote the entry.', 1, count)
  attempt!: number;
}

@ApiSchema({ name: 'AnyLogPage', description: 'A page of a log.' })
export class AnyLogPageDto extends PageDto {
  @ApiProperty({ description: 'The entries, oldest first, at most 1,000.', type: [AnyLogEntryDto] })
  data!: AnyLogEntryDto[];
}

export const jsonValue = { $ref: '#/components/schemas/JsonValue' };
