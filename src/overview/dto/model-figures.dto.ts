import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { Field } from '../../http/openapi/problem.dto.js';
import { ModelCircuitDto } from './circuit.dto.js';
import { count, exampleTime, time, timeOrNull } from '../../http/openapi/schemas.js';

const exampleKey = '01a1fbb0-8cdf-7754-9773-e0650e0cecc1';

@ApiSchema({ name: 'ModelNode', description: 'A node that runs requests of the model.' })
export class ModelNodeDto extends ModelCircuitDto {
  @Field('The name of the node, from `NODE_NAME`.', 'gpu-2:4711')
  name!: string;
  @Field('The number of runs that it may have at once.', 2, count)
  slots!: number;
  @Field('The number of its current runs.', 1, count)
  running!: number;
}

@ApiSchema({ name: 'MinuteCounts', description: 'The counts of one minute, on all nodes.' })
export class MinuteCountsDto {
  @Field('The beginning of the minute.', exampleTime, time)
  minute!: string;
  @Field('The number of runs that started.', 12, count)
  started!: number;
  @Field('The number of requests that completed.', 11, count)
  completed!: number;
  @Field('The number of those requests that failed.', 1, count)
  failed!: number;
}

@ApiSchema({ name: 'KeyWaiting', description: 'The requests of a key for a model.' })
export class KeyWaitingDto {
  @Field('The id of the key.', exampleKey, { format: 'uuid' })
  key_id!: string;
  @Field('The name of the key.', 'web shop')
  name!: string;
  @Field(
    'The number of its requests that wait. If the order of the model is `arrival`, it covers only the first 1,000 ' +
      'requests of its queue and may be 2 s old.',
    28,
    count,
  )
  waiting!: number;
  @Field('The number of its requests that are running.', 2, count)
  running!: number;
}

@ApiSchema({ name: 'QueueMark', description: 'A mark for a request at the front of the queue.' })
export class QueueMarkDto {
  @Field(
    'The id of the request, or a handle if the caller may not see payloads.',
    'rh_kq6pXv0mYx4S8n3s0J5e2Q',
  )
  request_id!: string;
  @Field('The id of the key that submitted it.', exampleKey, { format: 'uuid' })
  key_id!: string;
  @Field('The time at which its wait began.', exampleTime, time)
  since!: string;
}

@ApiSchema({ name: 'QueueFront', description: 'The front of the queue, as marks.' })
export class QueueFrontDto {
  @Field('The number of requests that a mark stands for.', 1, count)
  per_mark!: number;
  @ApiProperty({ description: 'The marks in the order of the queue, at most 120.', type: [QueueMarkDto] })
  marks!: QueueMarkDto[];
}

@ApiSchema({ name: 'ModelPercentiles', description: 'The median and the 95th percentile, in seconds.' })
export class ModelPercentilesDto {
  @Field('The median.', 1.2)
  p50!: number;
  @Field('The 95th percentile.', 3.4)
  p95!: number;
}

@ApiSchema({ name: 'RecentRuns', description: 'The outcomes of the last runs of a model, on all nodes.' })
export class RecentRunsDto {
  @Field(
    'The number of runs that are counted: of the newest 2,000 runs of all models, the last 20 of this model that ' +
      'ended within an hour.',
    20,
    { ...count, maximum: 20 },
  )
  runs!: number;
  @Field('The number of those that failed, timed out or were lost.', 20, count)
  failed!: number;
  @Field('The number of failed runs whose input the model refused with a 4xx.', 0, count)
  refused!: number;
  @Field('The most frequent code of the failed runs; null: none failed.', 'model_error', {
    type: String,
    nullable: true,
  })
  code!: string | null;
  @Field('The message of the last failed run that has one; null: there is none.', 'The model answered 500.', {
    type: String,
    nullable: true,
  })
  message!: string | null;
  @Field('The time at which the last of the runs ended.', exampleTime, time)
  last_at!: string;
}

const percentiles = { type: ModelPercentilesDto, nullable: true } as const;

@ApiSchema({
  name: 'AdminModelGroup',
  description: 'The models that a model shares slots with, and their runs.',
})
export class AdminModelGroupDto {
  @Field('The name of the group.', 'gpu-0')
  id!: string;
  @Field('The number of runs that its models may have at once, all together.', 1, count)
  concurrency!: number;
  @Field('The number of runs that its models have now, all together.', 1, count)
  running!: number;
  @Field('The number of seconds for which a model that has begun to run goes first; 0: no time.', 30, {
    type: 'number',
    minimum: 0,
  })
  stay_s!: number;
  @Field('The ids of its models.', ['acme/chat/llama', 'acme/image/flux'], {
    type: 'array',
    items: { type: 'string' },
  })
  models!: string[];
}

/** The measured figures of a model, as operators see them. */
export class ModelFiguresDto {
  @Field('The description in the models file.', 'Draws a fractal.')
  description!: string;
  @Field('The number of requests that can start as soon as there is a free slot.', 3, count)
  waiting!: number;
  @Field(
    'The number of requests that wait for their next attempt, or for the time that their caller chose.',
    0,
    count,
  )
  delayed!: number;
  @Field('The number of requests that wait because their keys run as many as they may.', 0, count)
  held!: number;
  @Field('The number of requests in progress on all nodes, some seconds old at most.', 2, count)
  running!: number;
  @Field('The number of runs that all nodes, or all workers, may have at once; null: unlimited.', 2, {
    ...count,
    nullable: true,
  })
  slots!: number | null;
  @ApiProperty({
    description: 'The group whose slots it shares; null: its slots are its own.',
    type: AdminModelGroupDto,
    nullable: true,
  })
  group!: AdminModelGroupDto | null;
  @Field(
    'The time at which the wait of the longest-waiting request began; null: nothing waits.',
    exampleTime,
    timeOrNull,
  )
  oldest_waiting_at!: string | null;
  @Field('The number of runs that started since midnight UTC.', 1_204, count)
  started_today!: number;
  @Field('The number of runs started per second, over the last minute.', 0.9)
  started_per_second!: number;
  @Field('The number of requests that completed in the last hour.', 3_301, count)
  completed_last_hour!: number;
  @Field('The number of those requests that failed.', 12, count)
  failed_last_hour!: number;
  @Field('The availability of the model: requests can start now only if it is `available`.', 'available', {
    enum: ['available', 'unavailable', 'paused'],
  })
  availability!: 'available' | 'unavailable' | 'paused';
  @Field(
    'The time since which the first of the nodes has not reached the model, even if that node was restarted ' +
      'since; null: a node can reach it, or no node has tried.',
    null,
    timeOrNull,
  )
  unavailable_since!: string | null;
  @Field('The reason for which it is unavailable; null: it is available.', null, {
    type: String,
    nullable: true,
  })
  unavailable_reason!: string | null;
  @ApiProperty({ description: 'The nodes that run requests.', type: [ModelNodeDto] })
  nodes!: ModelNodeDto[];
  @ApiProperty({
    description:
      'The outcomes of its last runs, some seconds old; null: of the newest 2,000 runs of all models, none of this ' +
      'model ended within an hour.',
    type: RecentRunsDto,
    nullable: true,
  })
  recent_runs!: RecentRunsDto | null;
  @ApiProperty({
    description: 'The duration of its runs in the last hour; null: too little is known.',
    ...percentiles,
  })
  run_time!: ModelPercentilesDto | null;
  @ApiProperty({
    description: 'The time that its requests waited; null: too little is known.',
    ...percentiles,
  })
  queue_time!: ModelPercentilesDto | null;
  @ApiProperty({
    description: 'The keys with running requests, and the keys with the most waiting requests.',
    type: [KeyWaitingDto],
  })
  waiting_by_key!: KeyWaitingDto[];
  @ApiProperty({
    description: 'The last 60 minutes. The current minute is the last.',
    type: [MinuteCountsDto],
  })
  history!: MinuteCountsDto[];
  @ApiPropertyOptional({
    description: 'The front of the queue. Present in `/v1/admin/events` while requests wait.',
    type: QueueFrontDto,
  })
  queue?: QueueFrontDto;
}
