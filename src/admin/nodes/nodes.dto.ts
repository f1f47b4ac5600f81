import { ApiSchema } from '@nestjs/swagger';
import { Field } from '../../http/openapi/problem.dto.js';
import { exampleId } from '../../http/openapi/responses.js';

@ApiSchema({ name: 'DrainedNode', description: 'A node, and whether it starts runs.' })
export class DrainedNodeDto {
  @Field('The id of the node. It changes with each start of the process.', exampleId, { format: 'uuid' })
  id!: string;
  @Field('The name of the node, from `NODE_NAME`.', 'gpu-2:4711')
  name!: string;
  @Field(
    'The role of the node: it serves calls (`api`), runs requests (`scheduler`) or does both (`all`).',
    'all',
  )
  role!: string;
  @Field('The time since which it starts no runs; null: it is not drained.', '2026-03-01T12:00:00.000Z', {
    type: String,
    format: 'date-time',
    nullable: true,
  })
  draining_since!: string | null;
}
