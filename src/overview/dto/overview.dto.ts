import { ApiSchema } from '@nestjs/swagger';
import { Field } from '../../http/openapi/problem.dto.js';

export const nodeStates = ['ready', 'draining', 'stopping', 'fenced', 'lost'] as const;
export type NodeState = (typeof nodeStates)[number];

@ApiSchema({ name: 'OverviewNode', description: 'A node in brief.' })
export class OverviewNodeDto {
  @Field('The id of the node.', '01a1fbb0-8cdf-7754-9773-e0650e0cecc1', { format: 'uuid' })
  id!: string;
  @Field('The name of the node, from `NODE_NAME`.', 'gpu-2:4711')
  name!: string;
  @Field(
    'The role of the node: it serves calls (`api`), runs requests (`scheduler`) or does both (`all`).',
    'all',
  )
  role!: string;
  @Field('The state of the node.', 'ready', { enum: nodeStates })
  state!: NodeState;
}
