import { ApiProperty, ApiPropertyOptional, ApiSchema, OmitType, PartialType } from '@nestjs/swagger';
import { Field } from '../../http/openapi/problem.dto.js';
import { MinuteCountsDto, QueueMarkDto } from '../../overview/dto/model-figures.dto.js';
import { OverviewNodeDto } from '../../overview/dto/overview.dto.js';
import { KeyNameDto } from '../requests/dto.js';
import { AdminModelDto } from './models.dto.js';

const whole = { type: 'integer', minimum: 0 } as const;
const time = { type: String, format: 'date-time' } as const;
const maybeTime = { ...time, nullable: true } as const;
const exampleTime = '2026-03-01T12:00:00.000Z';

@ApiSchema({ name: 'Overview', description: 'All models and nodes, as they are.' })
export class OverviewDto {
  @Field('When it was made.', exampleTime, time)
  at!: string;
  @ApiProperty({ description: 'In the order of the models file.', type: [AdminModelDto] })
  models!: AdminModelDto[];
  @ApiProperty({ description: 'By name.', type: [OverviewNodeDto] })
  nodes!: OverviewNodeDto[];
}

@ApiSchema({ name: 'QueueChanges', description: 'What has changed at the front of a queue.' })
export class QueueChangesDto {
  @Field('How many requests a mark stands for.', 1, whole)
  per_mark!: number;
  @ApiProperty({ description: 'The `request_id` of marks that are to be taken away.', type: [String] })
  gone!: string[];
  @ApiProperty({ description: 'To be added at the end, after that.', type: [QueueMarkDto] })
  marks!: QueueMarkDto[];
}

@ApiSchema({ name: 'ModelChanges', description: 'Of a model its `id`, and what has changed of it.' })
export class ModelChangesDto extends PartialType(OmitType(AdminModelDto, ['id', 'history', 'queue'])) {
  @Field('As callers name it.', 'demo/image/fractal')
  id!: string;
  @ApiPropertyOptional({
    description: 'The minutes that have changed or are new; the last 60 of all are to be kept.',
    type: [MinuteCountsDto],
  })
  history?: MinuteCountsDto[];
  @ApiPropertyOptional({
    description: 'What has changed at the front of its queue; null: nothing waits.',
    type: QueueChangesDto,
    nullable: true,
  })
  queue?: QueueChangesDto | null;
}

@ApiSchema({ name: 'OverviewChanges', description: 'What has changed since the event before.' })
export class OverviewChangesDto {
  @Field('When it was made.', exampleTime, time)
  at!: string;
  @ApiProperty({ description: 'Those that have changed.', type: [ModelChangesDto] })
  models!: ModelChangesDto[];
  @ApiProperty({ description: 'Those that have changed, whole.', type: [OverviewNodeDto] })
  nodes!: OverviewNodeDto[];
}

@ApiSchema({ name: 'TimeInterval', description: 'Between these.' })
export class TimeIntervalDto {
  @Field('Its beginning.', exampleTime, time)
  from!: string;
  @Field('Its end.', exampleTime, time)
  to!: string;
}

const entryStates = ['running', 'waiting', 'held', 'delayed'] as const;
export type EntryState = (typeof entryStates)[number];

@ApiSchema({ name: 'QueueEntry', description: 'A request that runs, or stands in the queue.' })
export class QueueEntryDto {
  @Field('Its id, or for those who may not see payloads a handle.', 'rh_kq6pXv0mYx4S8n3s0J5e2Q')
  request_id!: string;
  @Field('`held`: its key runs as many as it may. `delayed`: it waits for its next attempt.', 'waiting', {
    enum: entryStates,
  })
  state!: EntryState;
  @Field('How many will be started before it; null: it runs.', 3, { ...whole, nullable: true })
  position!: number | null;
  @ApiProperty({ description: 'Whose it is.', type: KeyNameDto })
  key!: KeyNameDto;
  @Field('Its priority.', 'normal', { enum: ['high', 'normal', 'low'] })
  priority!: string;
  @Field('Since when it waits, or waited.', exampleTime, time)
  since!: string;
  @Field('How often it was started.', 0, whole)
  attempt!: number;
  @Field('When its run began; null: it waits.', null, maybeTime)
  started_at!: string | null;
  @Field('Where it runs; null: it waits.', null, { type: String, nullable: true })
  node!: string | null;
  @Field('Before then it does not start; null: it may.', null, maybeTime)
  not_before!: string | null;
  @ApiPropertyOptional({ description: 'Absent where too little is known.', type: TimeIntervalDto })
  estimated_start?: TimeIntervalDto;
}

@ApiSchema({ name: 'OverviewAlive', description: 'The stream goes on, and what its figures are worth.' })
export class OverviewAliveDto {
  @Field('When it was sent, by the clock of the node.', exampleTime, time)
  at!: string;
  @Field('Whether the database answers the node: if it is `away`, calls are answered 503.', 'up', {
    enum: ['up', 'away'],
  })
  database!: 'up' | 'away';
  @Field('Since when it has not answered; null: it does.', null, maybeTime)
  database_away_since!: string | null;
  @Field(
    'What the disk of the node or of the database keeps from being done, and what to do; null: nothing is known of.',
    null,
    { type: String, nullable: true },
  )
  disk_fault!: string | null;
  @Field(
    'When the figures were last read, by the clock of the node; null: they have not been.',
    exampleTime,
    maybeTime,
  )
  read_at!: string | null;
}

@ApiSchema({ name: 'QueueEntryPage', description: 'A page of a queue.' })
export class QueueEntryPageDto {
  @ApiProperty({
    description: 'On the first page what runs, then what waits, in order.',
    type: [QueueEntryDto],
  })
  data!: QueueEntryDto[];
  @Field('Asks for the next page; null: there is none.', null, { type: String, nullable: true })
  next_cursor!: string | null;
}

@ApiSchema({ name: 'Share', description: 'What a key gets of a model.' })
export class ShareDto {
  @ApiProperty({ description: 'The key.', type: KeyNameDto })
  key!: KeyNameDto;
  @Field('Its weight.', 1)
  weight!: number;
  @Field('How many of its requests may run at once; null: any number.', null, { ...whole, nullable: true })
  max_running!: number | null;
  @Field('How many of its requests wait.', 28, whole)
  waiting!: number;
  @Field('Of these, those that wait because of `max_running`.', 0, whole)
  held!: number;
  @Field('How many are running.', 2, whole)
  running!: number;
  @Field('Its part of what runs; null: nothing runs.', 0.5, { type: Number, nullable: true })
  share_now!: number | null;
  @Field('How many of its runs began in the last hour.', 312, whole)
  starts_last_hour!: number;
  @Field('For how long its requests ran in the last hour.', 1_204.5)
  run_seconds_last_hour!: number;
  @Field('Its part of all running time in the last hour; null: nothing ran.', 0.48, {
    type: Number,
    nullable: true,
  })
  share_last_hour!: number | null;
}

@ApiSchema({ name: 'ShareList', description: 'What each key gets of a model.' })
export class ShareListDto {
  @ApiProperty({ description: 'Who ran most first.', type: [ShareDto] })
  data!: ShareDto[];
  @Field('Always null: it is one page.', null, { type: String, nullable: true })
  next_cursor!: null;
  @Field(
    '`waiting` and `held` count so many at the front of the queue, as happens with `order: arrival`; null: all.',
    null,
    { ...whole, nullable: true },
  )
  sampled!: number | null;
}
