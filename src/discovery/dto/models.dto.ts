import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { Field } from '../../http/openapi/problem.dto.js';

@ApiSchema({ name: 'TypicalTime', description: 'Of the newest successes within the last hour, in seconds.' })
export class TypicalTimeDto {
  @Field('Half of them took no longer.', 2.5, { type: 'number' })
  p50!: number;
  @Field('95 of 100 took no longer.', 4.25, { type: 'number' })
  p95!: number;
}

@ApiSchema({ name: 'Model', description: 'A model that the key may call, and how much it has to do.' })
export class ModelDto {
  @Field('Its id: submit with `POST /v1/queue/<id>`.', 'demo/image/fractal')
  id!: string;
  @Field('What it is, as the operator put it.', 'Draws a fractal.')
  description!: string;
  @ApiProperty({
    description: 'JSON Schema (draft 2020-12) of its input; null: any JSON object.',
    type: 'object',
    additionalProperties: true,
    nullable: true,
    example: { type: 'object', required: ['prompt'], properties: { prompt: { type: 'string' } } },
  })
  input_schema!: Readonly<Record<string, unknown>> | null;
  @Field('How many runs of it may be in progress at once, in all; null: as many as workers take.', 2, {
    type: 'integer',
    minimum: 1,
    nullable: true,
  })
  concurrency!: number | null;
  @Field('How many workers ask for runs of it, some seconds old; null: nodes run it.', null, {
    type: 'integer',
    minimum: 0,
    nullable: true,
  })
  workers!: number | null;
  @Field('How many requests wait in its queue. What is scheduled for later is not among them.', 3, {
    type: 'integer',
    minimum: 0,
  })
  waiting!: number;
  @Field('How many are in progress, on all nodes and workers; up to a second old.', 2, {
    type: 'integer',
    minimum: 0,
  })
  running!: number;
  @Field('`waiting` and `running` together: what an autoscaler goes by.', 5, { type: 'integer', minimum: 0 })
  load!: number;
  @Field('Seconds that the one has waited that waits longest; null: none waits.', 12.75, {
    type: 'number',
    nullable: true,
  })
  oldest_wait_s!: number | null;
  @ApiProperty({
    description: 'How long a run takes; null: too little is known.',
    type: TypicalTimeDto,
    nullable: true,
  })
  run_time!: TypicalTimeDto | null;
  @ApiProperty({
    description: 'How long a request waits for its first run; null: too little is known.',
    type: TypicalTimeDto,
    nullable: true,
  })
  queue_time!: TypicalTimeDto | null;
  @Field(
    'Whether it takes requests now. While it is `unavailable` (away) or `paused` they wait, and may be submitted.',
    'available',
    { enum: ['available', 'unavailable', 'paused'] },
  )
  availability!: 'available' | 'unavailable' | 'paused';
}

@ApiSchema({ name: 'ModelList', description: 'The models that the key may call.' })
export class ModelListDto {
  @ApiProperty({ description: 'In the order in which the operator listed them.', type: [ModelDto] })
  data!: ModelDto[];
}
