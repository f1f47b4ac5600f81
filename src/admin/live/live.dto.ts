import { ApiProperty, ApiPropertyOptional, ApiSchema, OmitType, PartialType } from '@nestjs/swagger';
import { PageDto } from '../../http/openapi/page.dto.js';
import { Field } from '../../http/openapi/problem.dto.js';
import { MinuteCountsDto, QueueMarkDto } from '../../overview/dto/model-figures.dto.js';
import { OverviewNodeDto } from '../../overview/dto/overview.dto.js';
import { KeyNameDto } from '../keys/key-name.dto.js';
import { AdminModelDto } from '../models/models.dto.js';
import { count, countOrNull, exampleTime, time, timeOrNull } from '../../http/openapi/schemas.js';
import { RequiredOption } from '../../http/input/option.js';
import { CursorOption, LimitOption, type ListOptions } from '../../http/input/page.js';
import { rule, text } from '../../tools/rules.js';

const modelId = rule(text.schema, (value) => {
  if (value !== undefined) return text.read(value);
  throw new Error('expected the id of a model, as in "?model=demo/image/fractal"');
});

/** The model whose shares are asked for. */
export class SharesQuery {
  @RequiredOption(modelId, 'The id of the model.', 'demo/image/fractal')
  model!: string;
}

/** The model whose queue is asked for, and the page. */
export class QueueQuery extends SharesQuery implements ListOptions {
  @LimitOption(500, 100) limit = 100;
  @CursorOption() cursor: string | undefined;
}

@ApiSchema({ name: 'Overview', description: 'All models and nodes at one moment.' })
export class OverviewDto {
  @Field('The time at which this overview was made.', exampleTime, time)
  at!: string;
  @ApiProperty({ description: 'The models, in the order of the models file.', type: [AdminModelDto] })
  models!: AdminModelDto[];
  @ApiProperty({ description: 'The nodes, by name.', type: [OverviewNodeDto] })
  nodes!: OverviewNodeDto[];
}

@ApiSchema({ name: 'QueueChanges', description: 'The changes at the front of a queue.' })
export class QueueChangesDto {
  @Field('The number of requests that a mark stands for.', 1, count)
  per_mark!: number;
  @ApiProperty({ description: 'The `request_id` of each mark to remove.', type: [String] })
  gone!: string[];
  @ApiProperty({ description: 'The marks to append after that.', type: [QueueMarkDto] })
  marks!: QueueMarkDto[];
}

@ApiSchema({ name: 'ModelChanges', description: 'The `id` of a model, and the members that have changed.' })
export class ModelChangesDto extends PartialType(OmitType(AdminModelDto, ['id', 'history', 'queue'])) {
  @Field('The id of the model.', 'demo/image/fractal')
  id!: string;
  @ApiPropertyOptional({
    description: 'The minutes that have changed or are new. Keep the last 60 minutes.',
    type: [MinuteCountsDto],
  })
  history?: MinuteCountsDto[];
  @ApiPropertyOptional({
    description: 'The changes at the front of the queue; null: nothing waits.',
    type: QueueChangesDto,
    nullable: true,
  })
  queue?: QueueChangesDto | null;
}

@ApiSchema({ name: 'OverviewChanges', description: 'The changes since the previous event.' })
export class OverviewChangesDto {
  @Field('The time at which this event was made.', exampleTime, time)
  at!: string;
  @ApiProperty({ description: 'The models that have changed.', type: [ModelChangesDto] })
  models!: ModelChangesDto[];
  @ApiProperty({ description: 'The nodes that have changed, each complete.', type: [OverviewNodeDto] })
  nodes!: OverviewNodeDto[];
}

@ApiSchema({ name: 'TimeInterval', description: 'An interval of time.' })
export class TimeIntervalDto {
  @Field('The beginning of the interval.', exampleTime, time)
  from!: string;
  @Field('The end of the interval.', exampleTime, time)
  to!: string;
}

const entryStates = ['running', 'waiting', 'held', 'delayed'] as const;
export type EntryState = (typeof entryStates)[number];

@ApiSchema({ name: 'QueueEntry', description: 'A request that is running or in the queue.' })
export class QueueEntryDto {
  @Field(
    'The id of the request, or a handle if the caller may not see payloads.',
    'rh_kq6pXv0mYx4S8n3s0J5e2Q',
  )
  request_id!: string;
  @Field(
    'The state of the request. `held`: its key already runs as many requests as it may. `delayed`: it waits ' +
      'for its next attempt.',
    'waiting',
    {
      enum: entryStates,
    },
  )
  state!: EntryState;
  @Field('The number of requests that will start before it; null: it is running.', 3, {
    ...count,
    nullable: true,
  })
  position!: number | null;
  @ApiProperty({ description: 'The key that submitted it.', type: KeyNameDto })
  key!: KeyNameDto;
  @Field('The priority of the request.', 'normal', { enum: ['high', 'normal', 'low'] })
  priority!: string;
  @Field(
    'The time at which its wait began: its submission, or the time for which it was scheduled.',
    exampleTime,
    time,
  )
  since!: string;
  @Field('The number of its attempts so far.', 0, count)
  attempt!: number;
  @Field('The time at which its run began; null: it waits.', null, timeOrNull)
  started_at!: string | null;
  @Field('The node or worker that runs it; null: it waits.', null, { type: String, nullable: true })
  node!: string | null;
  @Field('The earliest time at which it may start; null: there is none.', null, timeOrNull)
  not_before!: string | null;
  @ApiPropertyOptional({
    description: 'The interval in which it is likely to start. Absent if too little is known.',
    type: TimeIntervalDto,
  })
  estimated_start?: TimeIntervalDto;
}

@ApiSchema({
  name: 'OverviewAlive',
  description: 'A sign that the stream is alive, and how current its figures are.',
})
export class OverviewAliveDto {
  @Field('The time at which the event was sent.', exampleTime, time)
  at!: string;
  @Field('The database as the node sees it. While it is `away`, calls are answered 503.', 'up', {
    enum: ['up', 'away'],
  })
  database!: 'up' | 'away';
  @Field('The time since which the database has not answered; null: it answers.', null, timeOrNull)
  database_away_since!: string | null;
  @Field(
    'The fault of the disk of the node or of the database: what it prevents, and what to do; null: no fault ' +
      'is known.',
    null,
    { type: String, nullable: true },
  )
  disk_fault!: string | null;
  @Field('The time at which the figures were last read; null: never.', exampleTime, timeOrNull)
  read_at!: string | null;
}

@ApiSchema({ name: 'QueueEntryPage', description: 'A page of a queue.' })
export class QueueEntryPageDto extends PageDto {
  @ApiProperty({
    description:
      'The entries. The first page begins with the running requests; the waiting ones follow in order.',
    type: [QueueEntryDto],
  })
  data!: QueueEntryDto[];
}

@ApiSchema({ name: 'Share', description: 'The share of a model that a key gets.' })
export class ShareDto {
  @ApiProperty({ description: 'The key.', type: KeyNameDto })
  key!: KeyNameDto;
  @Field('The weight of the key.', 1)
  weight!: number;
  @Field('The number of its requests that may run at once; null: unlimited.', null, {
    ...count,
    nullable: true,
  })
  max_running!: number | null;
  @Field('The number of its requests that wait.', 28, count)
  waiting!: number;
  @Field('The number of those that wait because of `max_running`.', 0, count)
  held!: number;
  @Field('The number of its requests that are running.', 2, count)
  running!: number;
  @Field('Its part of all running requests; null: nothing is running.', 0.5, { type: Number, nullable: true })
  share_now!: number | null;
  @Field('The number of its runs that started in the last hour.', 312, count)
  starts_last_hour!: number;
  @Field('The total time that its requests ran in the last hour, in seconds.', 1_204.5)
  run_seconds_last_hour!: number;
  @Field('Its part of all running time in the last hour; null: nothing ran.', 0.48, {
    type: Number,
    nullable: true,
  })
  share_last_hour!: number | null;
}

@ApiSchema({ name: 'ShareList', description: 'The share of a model that each key gets.' })
export class ShareListDto {
  @ApiProperty({ description: 'The keys, those with the longest running time first.', type: [ShareDto] })
  data!: ShareDto[];
  @Field('Always null, because there is only one page.', null, { type: String, nullable: true })
  next_cursor!: null;
  @Field(
    '`waiting` and `held` cover only this many requests at the front of the queue, which happens with ' +
      '`order: arrival`; null: they cover all.',
    null,
    countOrNull,
  )
  sampled!: number | null;
}
