import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { codeNames, Field } from '../../http/openapi/problem.dto.js';
import { exampleId } from '../../http/openapi/responses.js';
import { LogEntryDto, ProgressDto, RequestErrorDto, TimeSpanDto } from '../../requests/dto/answers.dto.js';

export const time = { format: 'date-time' };
export const timeOrNull = { type: String, ...time, nullable: true } as const;
export const textOrNull = { type: String, nullable: true } as const;
export const count = { type: 'integer', minimum: 0 } as const;
const at = '2026-03-01T12:00:00.000Z';
export const cursorText = 'The `cursor` of the next page; null: this is the last one.';
const handle = 'rh_Zm9vYmFyYmF6cXV4LTAxMg';

@ApiSchema({ name: 'KeyName', description: 'A key, for people.' })
export class KeyNameDto {
  @Field('The id of the key.', exampleId, { format: 'uuid' })
  id!: string;
  @Field('Its name; null: it was removed.', 'web shop', textOrNull)
  name!: string | null;
}

@ApiSchema({ name: 'AnyMetrics', description: 'What is known of the times of a request, in seconds.' })
export class AnyMetricsDto {
  @ApiPropertyOptional({ description: 'Once it started: how long it waited.', example: 0.042 })
  queue_time?: number;
  @ApiPropertyOptional({
    description: 'Once it completed: how long it ran; null: it did not.',
    type: Number,
    nullable: true,
    example: 2.513,
  })
  inference_time?: number | null;
}

@ApiSchema({
  name: 'AnyRequest',
  description:
    'A request of any key, as operators see it. Without the scope `payloads` its ids are handles, which only ' +
    '`/v1/admin` takes, and of what its caller and its model wrote it has the tags and the message of its error alone.',
})
export class AnyRequestDto {
  @Field('The id, or a handle in its place.', handle)
  request_id!: string;
  @Field('The handle, as the log and the audit have it.', handle)
  handle!: string;
  @Field('The state.', 'COMPLETED', { enum: ['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED'] })
  status!: string;
  @Field('How it ended; null: it has not.', 'failed', {
    ...textOrNull,
    enum: ['succeeded', 'failed', 'cancelled', 'expired', null],
  })
  outcome!: string | null;
  @Field('The model that it is for.', 'demo/image/fractal')
  model_id!: string;
  @ApiProperty({ description: 'Whose it is.', type: KeyNameDto })
  key!: KeyNameDto;
  @Field(
    'The name of the node, or the worker, where it runs, or ran last; null: nowhere yet.',
    'gpu-2',
    textOrNull,
  )
  node!: string | null;
  @Field('Its priority.', 'normal', { enum: ['high', 'normal', 'low'] })
  priority!: string;
  @Field('When it was submitted.', at, time)
  created_at!: string;
  @Field('When its last attempt started; null: none did.', null, timeOrNull)
  started_at!: string | null;
  @Field('When it completed; null: it has not.', null, timeOrNull)
  completed_at!: string | null;
  @Field('The attempt that goes on, comes next, or was the last.', 1, count)
  attempt!: number;
  @ApiProperty({ description: 'As its submission gave them.', type: [String], example: ['job:17'] })
  tags!: string[];
  @ApiProperty({ description: 'How long it took so far.', type: AnyMetricsDto })
  metrics!: AnyMetricsDto;
  @ApiPropertyOptional({ description: 'While it waits: how many start before it.', ...count })
  queue_position?: number;
  @ApiPropertyOptional({
    description: 'While it waits: for what.',
    enum: ['busy', 'unavailable', 'paused', 'scheduled', 'retrying'],
  })
  reason?: string;
  @ApiPropertyOptional({ description: 'As in the status of its caller.', type: TimeSpanDto })
  estimated_start?: TimeSpanDto;
  @ApiPropertyOptional({ description: 'As in the status of its caller.', type: TimeSpanDto })
  estimated_end?: TimeSpanDto;
  @ApiPropertyOptional({
    description: 'How far its run is; its message only with `payloads`.',
    type: ProgressDto,
  })
  progress?: ProgressDto;
  @ApiPropertyOptional({ description: 'Once it completed.' })
  success?: boolean;
  @ApiPropertyOptional({
    description: 'Why, also in the words of its model.',
    type: RequestErrorDto,
    nullable: true,
  })
  error?: RequestErrorDto | null;
  @ApiPropertyOptional({ description: 'When it joins the queue, or did.', ...time })
  scheduled_at?: string;
  @ApiPropertyOptional({ description: 'The request that it repeats.' })
  retry_of?: string;
  @ApiPropertyOptional({ description: 'The request that repeats it.' })
  retried_as?: string;
  @ApiPropertyOptional({ description: 'When its content was erased.', ...time })
  erased_at?: string;
  @ApiPropertyOptional({
    description: 'With `payloads`: of the first picture in its output, if there is one.',
    ...textOrNull,
    example: 'image/png',
  })
  output_type?: string | null;
}

@ApiSchema({ name: 'AnyRequestDetails', description: 'The same, with the sizes of its payloads.' })
export class AnyRequestDetailsDto extends AnyRequestDto {
  @Field('Bytes of JSON; null: there is none, or it is kept no longer.', 42, { ...count, nullable: true })
  input_bytes!: number | null;
  @Field('The same of the output.', 31_457_280, { ...count, nullable: true })
  output_bytes!: number | null;
  @ApiPropertyOptional({
    description: 'While it waits for its own key: so many of the key may run of the model at once, and do.',
    ...count,
    example: 2,
  })
  held_at?: number;
}

@ApiSchema({ name: 'BoundedCount', description: 'A count that looks at so many rows at most.' })
export class BoundedCountDto {
  @Field('How many, at most 10,000.', 312, count)
  value!: number;
  @Field('false: there are so many at least.', true)
  is_exact!: boolean;
}

@ApiSchema({ name: 'FailureCount', description: 'What failed of one model with one code and status.' })
export class FailureCountDto {
  @Field('The model.', 'demo/image/fractal')
  model_id!: string;
  @Field('The code of the error.', 'model_error')
  code!: string;
  @Field('How many, of those that were counted.', 12, { ...count, minimum: 1 })
  count!: number;
  @Field('The message of the last of them.', 'The model answered 500: no memory', textOrNull)
  message!: string | null;
  @Field('When the last of them completed.', at, time)
  last_at!: string;
}

@ApiSchema({ name: 'FoundCount', description: 'How many there are, and of those that failed, why.' })
export class FoundCountDto extends BoundedCountDto {
  @ApiPropertyOptional({
    description: 'With `outcome=failed`: by model and code, most often first, at most 20.',
    type: [FailureCountDto],
  })
  failures?: FailureCountDto[];
}

@ApiSchema({ name: 'AnyRequestPage', description: 'A page of the requests of all keys.' })
export class AnyRequestPageDto {
  @ApiProperty({
    description:
      'Newest first. There may be fewer than asked for, also none, where `next_cursor` is no null.',
    type: [AnyRequestDto],
  })
  data!: AnyRequestDto[];
  @Field(cursorText, null, textOrNull)
  next_cursor!: string | null;
  @ApiPropertyOptional({
    description: 'On the first page: how many the filter finds.',
    type: FoundCountDto,
  })
  count?: FoundCountDto;
}

@ApiSchema({ name: 'LifeEvent', description: 'One thing that happened to a request.' })
export class LifeEventDto {
  @Field('In their order; 0: its submission.', 0, count)
  id!: number;
  @Field('When.', at, time)
  at!: string;
  @Field('What.', 'started', { enum: ['submitted', 'started', 'requeued', 'cancel_requested', 'completed'] })
  kind!: string;
  @Field('The number of the start that it belongs to.', 1, count)
  attempt!: number;
  @Field('The name of the node, or the worker, that ran it.', 'gpu-2', textOrNull)
  node!: string | null;
  @Field('How that run ended, or the request while it waited; null: nothing ended.', 'lost', {
    ...textOrNull,
    enum: ['succeeded', 'failed', 'timed_out', 'cancelled', 'expired', 'returned', 'lost', 'unreached', null],
  })
  outcome!: string | null;
  @Field('Why, as the code of an error.', 'model_error', { ...textOrNull, enum: [...codeNames, null] })
  code!: string | null;
  @Field('Why, also in the words of the model.', 'The model answered 500: no memory', textOrNull)
  message!: string | null;
  @Field('When that run ended.', null, timeOrNull)
  ended_at!: string | null;
  @Field(
    'Of what was requeued: when the pause before the next attempt was or will be over; null: it had none.',
    null,
    timeOrNull,
  )
  until!: string | null;
}

@ApiSchema({ name: 'PositionPoint', description: 'From when on it was where.' })
export class PositionPointDto {
  @Field('From when on.', at, time)
  at!: string;
  @Field('How many were to start before it.', 12, count)
  position!: number;
}

@ApiSchema({ name: 'Life', description: 'What happened to a request, oldest first, without its log.' })
export class LifeDto {
  @ApiProperty({ description: 'Oldest first.', type: [LifeEventDto] })
  data!: LifeEventDto[];
  @ApiProperty({
    description:
      'How it moved up: at most 60 points, by the starts that are kept. Empty where that would cost too much.',
    type: [PositionPointDto],
  })
  positions!: PositionPointDto[];
}

@ApiSchema({ name: 'AnyLogEntry', description: 'A line of the log of a request.' })
export class AnyLogEntryDto extends LogEntryDto {
  @Field('In their order.', 17, count)
  id!: number;
  @Field('The number of the start that said it.', 1, count)
  attempt!: number;
}

@ApiSchema({ name: 'AnyLogPage', description: 'A page of a log.' })
export class AnyLogPageDto {
  @ApiProperty({ description: 'Oldest first, at most 1,000.', type: [AnyLogEntryDto] })
  data!: AnyLogEntryDto[];
  @Field(cursorText, null, textOrNull)
  next_cursor!: string | null;
}

@ApiSchema({ name: 'Reason', description: 'Why, for the audit.' })
export class ReasonDto {
  @ApiPropertyOptional({ description: 'In words.', maxLength: 500, example: 'asked for by its owner' })
  reason?: string;
}

export const jsonValue = { $ref: '#/components/schemas/JsonValue' };
