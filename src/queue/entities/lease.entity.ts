import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** One run going on. Every write of the run is fenced on its token. */
@Entity('lease')
@Check('lease_deadline_follows_start', 'deadline_at > started_at')
@Index('lease_bounded', ['boundedKeyId', 'modelId'], { where: 'bounded_key_id IS NOT NULL' })
export class LeaseEntity {
  @PrimaryColumn('uuid') requestId!: string;
  @Column('uuid') token!: string;
  @Column('text') modelId!: string;
  @Column('uuid') nodeId!: string;
  @Column('integer') attempt!: number;
  @Column('timestamptz', { default: () => 'now()' }) startedAt!: Date;
  @Column('timestamptz') deadlineAt!: Date;
  @Column('timestamptz', { nullable: true }) cancelRequestedAt!: Date | null;
  @Column('integer', { default: 0 }) logLines!: number;
  /** The key against whose bound it counts; null: none has one. */
  @Column('uuid', { nullable: true }) boundedKeyId!: string | null;
}
