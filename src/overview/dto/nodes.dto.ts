import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { Field } from '../../http/openapi/problem.dto.js';
import { ModelCircuitDto } from './circuit.dto.js';
import { ModelPercentilesDto } from './model-figures.dto.js';
import { nodeStates, type NodeState } from './overview.dto.js';
import { count, exampleTime, time } from '../../http/openapi/schemas.js';

@ApiSchema({ name: 'NodeModel', description: 'The slots and runs of a node for a model.' })
export class NodeModelDto extends ModelCircuitDto {
  @Field('The model.', 'demo/image/fractal')
  model_id!: string;
  @Field('The number of runs that it may have at once.', 2, count)
  slots!: number;
  @Field('The number of its current runs.', 1, count)
  running!: number;
  @Field(
    'For a silent node, the time until which no other node uses its slots; null: the node is not silent.',
    null,
    {
      ...time,
      nullable: true,
    },
  )
  resting_until!: string | null;
  @Field('The reason for which the node cannot reach the model; null: it can.', null, {
    type: String,
    nullable: true,
  })
  reason!: string | null;
  @Field(
    'The number of runs that ended on this node within an hour, among the newest 5,000 of all models.',
    120,
    count,
  )
  recent_runs!: number;
  @Field('The number of those that failed, timed out or were lost.', 2, count)
  recent_failed!: number;
  @ApiProperty({
    description: 'The duration of the successful ones, in seconds; null: there were too few.',
    type: ModelPercentilesDto,
    nullable: true,
  })
  run_time!: ModelPercentilesDto | null;
}

@ApiSchema({ name: 'AdminNode', description: 'A process of the cluster.' })
export class AdminNodeDto {
  @Field(
    'The id of the node. It changes with each start of the process.',
    '01a1fbb0-8cdf-7754-9773-e0650e0cecc1',
    { format: 'uuid' },
  )
  id!: string;
  @Field('The name of the node, from `NODE_NAME`.', 'gpu-2:4711')
  name!: string;
  @Field('The version of the service on the node.', '1.0.0')
  version!: string;
  @Field(
    'The role of the node: it serves calls (`api`), runs requests (`scheduler`) or does both (`all`).',
    'all',
  )
  role!: string;
  @Field(
    '`draining`: an operator drains the node. `stopping`: its process is ending. In both states it starts no ' +
      'runs and leaves its idle slots to other nodes. `fenced`: it has been silent for 5 s, so it has stopped ' +
      'its runs. `lost`: it has been silent for 6 s, so other nodes take its runs; it is listed for an hour.',
    'ready',
    { enum: nodeStates },
  )
  state!: NodeState;
  @Field('The time at which it joined the cluster.', exampleTime, time)
  started_at!: string;
  @Field('The time of its last heartbeat. There is one every 1.5 s.', exampleTime, time)
  heartbeat_at!: string;
  @Field('The time at which other nodes declared it lost; null: it is not lost.', null, {
    ...time,
    nullable: true,
  })
  lost_at!: string | null;
  @Field(
    'The number of runs that it had when it was declared lost. They went back to their queues or ended; ' +
      'null: it is not lost.',
    null,
    {
      ...count,
      nullable: true,
    },
  )
  lost_runs!: number | null;
  @Field('The time since which it starts no runs; null: it is not drained.', null, {
    ...time,
    nullable: true,
  })
  draining_since!: string | null;
  @Field('The number of its current runs.', 1, count)
  running!: number;
  @Field('The number of runs that it may have at once, of all models.', 4, count)
  slots!: number;
  @ApiProperty({
    description: 'The models of which it has slots or runs, or which it cannot reach.',
    type: [NodeModelDto],
  })
  models!: NodeModelDto[];
}

@ApiSchema({ name: 'AdminNodeList', description: 'All nodes.' })
export class AdminNodeListDto {
  @ApiProperty({
    description: 'The nodes by name, then those that were lost within an hour, the last one first.',
    type: [AdminNodeDto],
  })
  data!: AdminNodeDto[];
  @Field('Always null, because there is only one page.', null, { type: String, nullable: true })
  next_cursor!: null;
}
