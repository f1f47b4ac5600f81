import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A run in progress. Every write of the run is guarded by its token. */
@Entity('lease')
@Check('lease_is_of_a_node_or_a_worker', '(node_id IS NULL) <> (worker_id IS NULL)')
@Check('lease_of_a_worker_expires', '(worker_id IS NULL) = (expires_at IS NULL)')
@Index('lease_of_workers', ['modelId'], { where: 'worker_id IS NOT NULL' })
@Index('lease_by_claim', ['claimId'], { where: 'claim_id IS NOT NULL' })
@Check('lease_deadline_follows_start', 'deadline_at > started_at')
@Check('lease_progress_is_a_share', 'progress_value BETWEEN 0 AND 1')
@Index('lease_bounded', ['boundedKeyId', 'modelId'], { where: 'bounded_key_id IS NOT NULL' })
export class LeaseEntity {
  @PrimaryColumn('uuid') requestId!: string;
  @Column('uuid') token!: string;
  @Column('text') modelId!: string;
  /** null: a worker has it. */
  @Column('uuid', { nullable: true }) nodeId!: string | null;
  @Column('integer') attempt!: number;
  @Column('timestamptz', { default: () => 'now()' }) startedAt!: Date;
  @Column('timestamptz') deadlineAt!: Date;
  @Column('timestamptz', { nullable: true }) cancelRequestedAt!: Date | null;
  /** Number of events of its run: log lines, progress and deltas. */
  @Column('integer', { default: 0 }) events!: number;
  /** Index of the next row of its output. */
  @Column('integer', { default: 0 }) deltas!: number;
  @Column('bigint', { default: 0 }) outputBytes!: number;
  @Column('real', { nullable: true }) progressValue!: number | null;
  @Column('text', { nullable: true }) progressMessage!: string | null;
  /** What the run has used so far, as its model reports it. */
  @Column('json', { nullable: true }) usage!: unknown;
  /** The key whose bound it counts against; null: the key has no bound. */
  @Column('uuid', { nullable: true }) boundedKeyId!: string | null;
  /** The uid of the worker that has it; null: a node does. */
  @Column('uuid', { nullable: true }) workerId!: string | null;
  /** The id of the worker's key, and the worker's name for the claim. */
  @Column('text', { nullable: true }) claimId!: string | null;
  /** Hash of what the claim asked for. */
  @Column('bytea', { nullable: true }) claimHash!: Buffer | null;
  /** How often the claim was answered with this run. */
  @Column('integer', { nullable: true }) handed!: number | null;
  /** The time at which the lease expires unless the worker renews it. */
  @Column('timestamptz', { nullable: true }) expiresAt!: Date | null;
}
