import { Check, Column, Entity, PrimaryColumn } from 'typeorm';
import type { Role } from '../../config/config.js';

/** One process of the service and when it was last heard of. */
@Entity('node')
@Check('node_role_is_known', `role IN ('all', 'api', 'scheduler')`)
export class NodeEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'node_pkey' })
  id!: string;

  @Column({ type: 'text' })
  name!: string;

  @Column({ type: 'text' })
  role!: Role;

  @Column({ name: 'started_at', type: 'timestamptz', default: () => 'now()' })
  startedAt!: Date;

  @Column({ name: 'heartbeat_at', type: 'timestamptz', default: () => 'now()' })
  heartbeatAt!: Date;
}
