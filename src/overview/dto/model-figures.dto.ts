import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { Field } from '../../http/openapi/problem.dto.js';
import { ModelCircuitDto } from './circuit.dto.js';

const whole = { type: 'integer', minimum: 0 } as const;
const time = { type: String, format: 'date-time' } as const;
const maybeTime = { ...time, nullable: true } as const;
const exampleTime = '2026-03-01T12:00:00.000Z';
const exampleKey = '01a1fbb0-8cdf-7754-9773-e0650e0cecc1';

@ApiSchema({ name: 'ModelNode', description: 'A node that runs requests of the model.' })
export class ModelNodeDto extends ModelCircuitDto {
  @Field('`NODE_NAME`.', 'gpu-2:4711')
  name!: string;
  @Field('How many runs it may have at once.', 2, whole)
  slots!: number;
  @Field('How many it has.', 1, whole)
  running!: number;
}

@ApiSchema({ name: 'MinuteCounts', description: 'What happened in a minute, on all nodes.' })
export class MinuteCountsDto {
  @Field('Its beginning.', exampleTime, time)
  minute!: string;
  @Field('Runs that were started.', 12, whole)
  started!: number;
  @Field('Requests that completed.', 11, whole)
  completed!: number;
  @Field('Of these, those that failed.', 1, whole)
  failed!: number;
}

@ApiSchema({ name: 'KeyWaiting', description: 'What a key has of a model now.' })
export class KeyWaitingDto {
  @Field('The id of the key.', exampleKey, { format: 'uuid' })
  key_id!: string;
  @Field('Its name.', 'web shop')
  name!: string;
  @Field('How many of its requests wait.', 28, whole)
  waiting!: number;
  @Field('How many are running.', 2, whole)
  running!: number;
}

@ApiSchema({ name: 'QueueMark', description: 'A request at the front of the queue.' })
export class QueueMarkDto {
  @Field('Its id, or for those who may not see payloads a handle.', 'rh_kq6pXv0mYx4S8n3s0J5e2Q')
  request_id!: string;
  @Field('Whose it is.', exampleKey, { format: 'uuid' })
  key_id!: string;
  @Field('Since when it waits.', exampleTime, time)
  since!: string;
}

@ApiSchema({ name: 'QueueFront', description: 'The first of the queue, as marks.' })
export class QueueFrontDto {
  @Field('How many requests a mark stands for.', 1, whole)
  per_mark!: number;
  @ApiProperty({ description: 'At most 120, in the order of the queue.', type: [QueueMarkDto] })
  marks!: QueueMarkDto[];
}

@ApiSchema({ name: 'ModelPercentiles', description: 'The median and the 95th percentile, in seconds.' })
export class ModelPercentilesDto {
  @Field('The median.', 1.2)
  p50!: number;
  @Field('The 95th percentile.', 3.4)
  p95!: number;
}

@ApiSchema({ name: 'RecentRuns', description: 'How the last runs of a model ended, on all nodes.' })
export class RecentRunsDto {
  @Field('How many were looked at: the last 20 that ended within the hour.', 20, { ...whole, maximum: 20 })
  runs!: number;
  @Field('Of these, those that failed, took too long, or were lost.', 20, whole)
  failed!: number;
  @Field('Of those that failed, the runs whose input the model refused with a 4xx.', 0, whole)
  refused!: number;
  @Field('The most frequent code of those that failed; null: none did.', 'model_error', {
    type: String,
    nullable: true,
  })
  code!: string | null;
  @Field('What the last of them said; null: none did, or it said nothing.', 'The model answered 500.', {
    type: String,
    nullable: true,
  })
  message!: string | null;
  @Field('When the last of them ended.', exampleTime, time)
  last_at!: string;
}

const percentiles = { type: ModelPercentilesDto, nullable: true } as const;

/** The measured figures of a model, as operators see them. */
export class ModelFiguresDto {
  @Field('From the models file.', 'Draws a fractal.')
  description!: string;
  @Field('Requests that start as soon as there is a slot.', 3, whole)
  waiting!: number;
  @Field('Requests that wait for their next attempt, or for a time that their caller chose.', 0, whole)
  delayed!: number;
  @Field('Requests that wait because their keys run as many as they may.', 0, whole)
  held!: number;
  @Field('Requests in progress, on all nodes; some seconds old at most.', 2, whole)
  running!: number;
  @Field('How many runs the nodes, or workers, may have at once, together; null: any number.', 2, {
    ...whole,
    nullable: true,
  })
  slots!: number | null;
  @Field('Since when the one waits that waits longest; null: nothing waits.', exampleTime, maybeTime)
  oldest_waiting_at!: string | null;
  @Field('Runs that were started since midnight UTC.', 1_204, whole)
  started_today!: number;
  @Field('Runs that were started a second, over the last minute.', 0.9)
  started_per_second!: number;
  @Field('Requests that completed in the last hour.', 3_301, whole)
  completed_last_hour!: number;
  @Field('Of these, those that failed.', 12, whole)
  failed_last_hour!: number;
  @Field('Whether requests start now.', 'available', { enum: ['available', 'unavailable', 'paused'] })
  availability!: 'available' | 'unavailable' | 'paused';
  @Field(
    'Since when the first of the nodes could not reach it, also where that was restarted since; null: one can.',
    null,
    maybeTime,
  )
  unavailable_since!: string | null;
  @Field('Why not; null: one can.', null, { type: String, nullable: true })
  unavailable_reason!: string | null;
  @ApiProperty({ description: 'The nodes that run requests.', type: [ModelNodeDto] })
  nodes!: ModelNodeDto[];
  @ApiProperty({
    description: 'How its last runs ended, up to some seconds ago; null: none ended within the hour.',
    type: RecentRunsDto,
    nullable: true,
  })
  recent_runs!: RecentRunsDto | null;
  @ApiProperty({
    description: 'How long its runs took in the last hour; null: too little is known.',
    ...percentiles,
  })
  run_time!: ModelPercentilesDto | null;
  @ApiProperty({ description: 'How long its requests waited; null: too little is known.', ...percentiles })
  queue_time!: ModelPercentilesDto | null;
  @ApiProperty({
    description: 'The keys that have something running, and those with most waiting.',
    type: [KeyWaitingDto],
  })
  waiting_by_key!: KeyWaitingDto[];
  @ApiProperty({ description: 'The last 60 minutes, that of now last.', type: [MinuteCountsDto] })
  history!: MinuteCountsDto[];
  @ApiPropertyOptional({ description: 'In `/v1/admin/events`, where something waits.', type: QueueFrontDto })
  queue?: QueueFrontDto;
}
