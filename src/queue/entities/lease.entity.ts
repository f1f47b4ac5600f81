import { Check, Column, Entity, PrimaryColumn } from 'typeorm';

/** One run going on. Every write of the run is fenced on its token. */
@Entity('lease')
@Check('lease_deadline_follows_start', 'deadline_at > started_at')
export class LeaseEntity {
  @PrimaryColumn({ name: 'request_id', type: 'uuid', primaryKeyConstraintName: 'lease_pkey' })
  requestId!: string;

  @Column({ type: 'uuid' })
  token!: string;

  @Column({ name: 'model_id', type: 'text' })
  modelId!: string;

  @Column({ name: 'node_id', type: 'uuid' })
  nodeId!: string;

  @Column({ type: 'integer' })
  attempt!: number;

  @Column({ name: 'started_at', type: 'timestamptz', default: () => 'now()' })
  startedAt!: Date;

  @Column({ name: 'deadline_at', type: 'timestamptz' })
  deadlineAt!: Date;

  @Column({ name: 'cancel_requested_at', type: 'timestamptz', nullable: true })
  cancelRequestedAt!: Date | null;

  @Column({ name: 'log_lines', type: 'integer', default: 0 })
  logLines!: number;
}
