import { Check, Column, Entity, PrimaryColumn } from 'typeorm';
import type { Outcome, RequestState } from '../request-state.js';

/** One request, until retention drops its day: the id is a UUIDv7, and the table is partitioned by it. */
@Entity('request')
@Check('request_state_is_known', `state IN ('IN_QUEUE', 'IN_PROGRESS', 'COMPLETED')`)
@Check('request_outcome_is_known', `outcome IN ('succeeded', 'failed', 'cancelled', 'expired')`)
@Check(
  'request_completed_has_outcome_and_time',
  `(state = 'COMPLETED') = (outcome IS NOT NULL) AND (state = 'COMPLETED') = (completed_at IS NOT NULL)`,
)
@Check(
  'request_in_progress_has_started',
  `state <> 'IN_PROGRESS' OR (started_at IS NOT NULL AND attempt > 0)`,
)
@Check(
  'request_error_only_without_success',
  `(error IS NOT NULL) = (outcome IS NOT NULL AND outcome <> 'succeeded')`,
)
@Check('request_output_only_with_success', `output IS NULL OR outcome = 'succeeded'`)
@Check(
  'request_counts_are_sane',
  `attempt >= 0 AND failed_attempts >= 0 AND lost_attempts >= 0 AND failed_attempts + lost_attempts <= attempt`,
)
export class RequestEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'request_pkey' })
  id!: string;

  @Column({ name: 'model_id', type: 'text' })
  modelId!: string;

  @Column({ name: 'api_key_id', type: 'uuid' })
  apiKeyId!: string;

  @Column({ type: 'text', default: 'IN_QUEUE' })
  state!: RequestState;

  @Column({ type: 'text', nullable: true })
  outcome!: Outcome | null;

  @Column({ type: 'smallint', default: 0 })
  priority!: number;

  /** Its place among the requests of the same priority; kept so that a cancel finds the queue entry by key. */
  @Column({ type: 'bigint' })
  seq!: number;

  /** How often it was started; 0 while it never was. */
  @Column({ type: 'integer', default: 0 })
  attempt!: number;

  @Column({ name: 'failed_attempts', type: 'smallint', default: 0 })
  failedAttempts!: number;

  @Column({ name: 'lost_attempts', type: 'smallint', default: 0 })
  lostAttempts!: number;

  @Column({ type: 'json', nullable: true })
  input!: unknown;

  @Column({ type: 'json', nullable: true })
  output!: unknown;

  @Column({ type: 'json', nullable: true })
  error!: unknown;

  @Column({ name: 'inference_ms', type: 'integer', nullable: true })
  inferenceMs!: number | null;

  @Column({ name: 'created_at', type: 'timestamptz', default: () => 'clock_timestamp()' })
  createdAt!: Date;

  @Column({ name: 'expires_at', type: 'timestamptz', nullable: true })
  expiresAt!: Date | null;

  @Column({ name: 'started_at', type: 'timestamptz', nullable: true })
  startedAt!: Date | null;

  @Column({ name: 'completed_at', type: 'timestamptz', nullable: true })
  completedAt!: Date | null;
}
