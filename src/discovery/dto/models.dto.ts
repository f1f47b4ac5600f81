import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { Field } from '../../http/openapi/problem.dto.js';

@ApiSchema({
  name: 'TypicalTime',
  description: 'Percentiles of the newest successes within the last hour, in seconds.',
})
export class TypicalTimeDto {
  @Field('Half of them took at most this long.', 2.5, { type: 'number' })
  p50!: number;
  @Field('95 % of them took at most this long.', 4.25, { type: 'number' })
  p95!: number;
}

@ApiSchema({ name: 'ModelGroup', description: 'The models that a model shares slots with.' })
export class ModelGroupDto {
  @Field('The name of the group.', 'gpu-0')
  id!: string;
  @Field('The number of runs of all its models that may be in progress at once in total.', 1, {
    type: 'integer',
    minimum: 1,
  })
  concurrency!: number;
  @Field(
    'The number of seconds for which a model that has begun to run goes first while it has requests; 0: the longest ' +
      'wait always goes first.',
    30,
    { type: 'number', minimum: 0 },
  )
  stay_s!: number;
}

@ApiSchema({
  name: 'ModelReserve',
  description: 'The slots that a model keeps for a priority and those above it.',
})
export class ModelReserveDto {
  @Field('The number of slots that only requests of high priority may use.', 1, {
    type: 'integer',
    minimum: 0,
  })
  high!: number;
  @Field('The number of slots besides those that only requests of normal priority or above may use.', 0, {
    type: 'integer',
    minimum: 0,
  })
  normal!: number;
}

@ApiSchema({ name: 'Model', description: 'A model that the key may call, and its load.' })
export class ModelDto {
  @Field('The id of the model; submit with `POST /v1/queue/<id>`.', 'demo/image/fractal')
  id!: string;
  @Field('The operator’s description of the model.', 'Draws a fractal.')
  description!: string;
  @ApiProperty({
    description: 'The JSON Schema (draft 2020-12) of its input; null: any JSON object.',
    type: 'object',
    additionalProperties: true,
    nullable: true,
    example: { type: 'object', required: ['prompt'], properties: { prompt: { type: 'string' } } },
  })
  input_schema!: Readonly<Record<string, unknown>> | null;
  @Field(
    'The number of its runs that may be in progress at once in total; null: as many as workers claim.',
    2,
    {
      type: 'integer',
      minimum: 1,
      nullable: true,
    },
  )
  concurrency!: number | null;
  @ApiProperty({
    description: 'The group whose slots it shares; null: its slots are its own.',
    type: ModelGroupDto,
    nullable: true,
  })
  group!: ModelGroupDto | null;
  @ApiProperty({
    description: 'The slots that it keeps for a priority and those above it.',
    type: ModelReserveDto,
  })
  reserve!: ModelReserveDto;
  @Field('The number of workers that claim its runs, some seconds old; null: nodes run it.', null, {
    type: 'integer',
    minimum: 0,
    nullable: true,
  })
  workers!: number | null;
  @Field('The number of requests in its queue, without those that are scheduled for later.', 3, {
    type: 'integer',
    minimum: 0,
  })
  waiting!: number;
  @Field('The number of its runs on all nodes and workers, up to 1 s old.', 2, {
    type: 'integer',
    minimum: 0,
  })
  running!: number;
  @Field('The sum of `waiting` and `running`, for autoscalers.', 5, { type: 'integer', minimum: 0 })
  load!: number;
  @Field('The wait of the longest-waiting request, in seconds; null: none waits.', 12.75, {
    type: 'number',
    nullable: true,
  })
  oldest_wait_s!: number | null;
  @ApiProperty({
    description: 'The duration of a run; null: too little is known.',
    type: TypicalTimeDto,
    nullable: true,
  })
  run_time!: TypicalTimeDto | null;
  @ApiProperty({
    description: 'The wait of a request for its first run; null: too little is known.',
    type: TypicalTimeDto,
    nullable: true,
  })
  queue_time!: TypicalTimeDto | null;
  @Field(
    'The availability of the model. While it is `unavailable` (not reachable) or `paused`, requests ' +
      'wait and can be submitted.',
    'available',
    { enum: ['available', 'unavailable', 'paused'] },
  )
  availability!: 'available' | 'unavailable' | 'paused';
  @Field(
    'While it is `unavailable`: the time of the next probe, before which it does not become available; null: it ' +
      'is available, or the time is unknown.',
    null,
    { type: String, format: 'date-time', nullable: true },
  )
  next_probe_at!: string | null;
}

@ApiSchema({ name: 'ModelList', description: 'The models that the key may call.' })
export class ModelListDto {
  @ApiProperty({ description: 'The models, in the order of the models file.', type: [ModelDto] })
  data!: ModelDto[];
  @Field(
    'A description of the API for generators of clients. It does not name today’s models, so a client made from it ' +
      'takes those that appear later.',
    'http://127.0.0.1:3000/v1/openapi.json',
    { format: 'uri' },
  )
  openapi_url!: string;
}
