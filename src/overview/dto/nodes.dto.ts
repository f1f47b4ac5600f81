import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { Field } from '../../http/openapi/problem.dto.js';
import { ModelCircuitDto } from './circuit.dto.js';
import { ModelPercentilesDto } from './model-figures.dto.js';
import { nodeStates, type NodeState } from './overview.dto.js';

const whole = { type: 'integer', minimum: 0 } as const;
const time = { type: String, format: 'date-time' } as const;
const exampleTime = '2026-03-01T12:00:00.000Z';

@ApiSchema({ name: 'NodeModel', description: 'What a node has of a model.' })
export class NodeModelDto extends ModelCircuitDto {
  @Field('The model.', 'demo/image/fractal')
  model_id!: string;
  @Field('How many runs it may have at once.', 2, whole)
  slots!: number;
  @Field('How many it has.', 1, whole)
  running!: number;
  @Field('Of a silent node: its slots are nobody else’s until then; null: they are in use.', null, {
    ...time,
    nullable: true,
  })
  resting_until!: string | null;
  @Field('Why it finds the model away; null: it does not.', null, { type: String, nullable: true })
  reason!: string | null;
  @Field('Runs of it that ended here within the hour, of the newest 5,000 of all.', 120, whole)
  recent_runs!: number;
  @Field('Of these, those that failed, took too long, or were lost.', 2, whole)
  recent_failed!: number;
  @ApiProperty({
    description: 'How long those took that succeeded, in seconds; null: there were too few.',
    type: ModelPercentilesDto,
    nullable: true,
  })
  run_time!: ModelPercentilesDto | null;
}

@ApiSchema({ name: 'AdminNode', description: 'A process of the cluster.' })
export class AdminNodeDto {
  @Field('Its id, another after each start.', '01a1fbb0-8cdf-7754-9773-e0650e0cecc1', { format: 'uuid' })
  id!: string;
  @Field('`NODE_NAME`.', 'gpu-2:4711')
  name!: string;
  @Field('The version of the service that it runs.', '0.1.0')
  version!: string;
  @Field('Whether it serves calls (`api`), runs requests (`scheduler`) or both (`all`).', 'all')
  role!: string;
  @Field(
    '`draining`: an operator said so. `stopping`: its process is ending. Both start nothing more and leave their idle ' +
      'slots to the others. `fenced`: silent for 5 s, so that it has stopped its runs. `lost`: for 6 s, so that others take them; it is ' +
      'listed so for an hour.',
    'ready',
    { enum: nodeStates },
  )
  state!: NodeState;
  @Field('When it joined.', exampleTime, time)
  started_at!: string;
  @Field('Its last sign of life; there is one each 1.5 s.', exampleTime, time)
  heartbeat_at!: string;
  @Field('When the others gave it up; null: they did not.', null, { ...time, nullable: true })
  lost_at!: string | null;
  @Field(
    'How many runs it had then, which went back to their queues or ended; null: it was not given up.',
    null,
    {
      ...whole,
      nullable: true,
    },
  )
  lost_runs!: number | null;
  @Field('Since when it starts nothing more; null: it does.', null, { ...time, nullable: true })
  draining_since!: string | null;
  @Field('How many runs it has.', 1, whole)
  running!: number;
  @Field('How many it may have at once, of all models.', 4, whole)
  slots!: number;
  @ApiProperty({ description: 'Those that it has slots or runs of, or finds away.', type: [NodeModelDto] })
  models!: NodeModelDto[];
}

@ApiSchema({ name: 'AdminNodeList', description: 'All nodes.' })
export class AdminNodeListDto {
  @ApiProperty({
    description: 'By name, and after them those that were lost within the hour, the last first.',
    type: [AdminNodeDto],
  })
  data!: AdminNodeDto[];
  @Field('Always null: it is one page.', null, { type: String, nullable: true })
  next_cursor!: null;
}
