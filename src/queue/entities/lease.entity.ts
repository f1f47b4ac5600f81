import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** One run going on. Every write of the run is fenced on its token. */
@Entity('lease')
@Check('lease_deadline_follows_start', 'deadline_at > started_at')
@Check('lease_progress_is_a_share', 'progress_value BETWEEN 0 AND 1')
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
  /** What its run has said, counted: log lines, progress and deltas. */
  @Column('integer', { default: 0 }) events!: number;
  /** Index of the next row of its output. */
  @Column('integer', { default: 0 }) deltas!: number;
  @Column('bigint', { default: 0 }) outputBytes!: number;
  @Column('real', { nullable: true }) progressValue!: number | null;
  @Column('text', { nullable: true }) progressMessage!: string | null;
  /** The key against whose bound it counts; null: none has one. */
  @Column('uuid', { nullable: true }) boundedKeyId!: string | null;
}
