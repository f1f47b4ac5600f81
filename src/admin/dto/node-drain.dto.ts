import { ApiSchema } from '@nestjs/swagger';
import { Field } from '../../http/openapi/problem.dto.js';
import { exampleId } from '../../http/openapi/responses.js';

@ApiSchema({ name: 'DrainedNode', description: 'A node, and whether it still starts runs.' })
export class DrainedNodeDto {
  @Field('Its id, another after each start.', exampleId, { format: 'uuid' })
  id!: string;
  @Field('`NODE_NAME`.', 'gpu-2:4711')
  name!: string;
  @Field('Whether it serves calls (`api`), runs requests (`scheduler`) or both (`all`).', 'all')
  role!: string;
  @Field('Since when it starts nothing more; null: it does.', '2026-03-01T12:00:00.000Z', {
    type: String,
    format: 'date-time',
    nullable: true,
  })
  draining_since!: string | null;
}
