import { Check, Column, Entity, PrimaryColumn } from 'typeorm';
import type { AttemptOutcome } from '../request-state.js';

/** One run that ended. Append-only. */
@Entity('attempt')
@Check(
  'attempt_outcome_is_known',
  `outcome IN ('succeeded', 'failed', 'timed_out', 'cancelled', 'returned', 'lost')`,
)
export class AttemptEntity {
  @PrimaryColumn({ name: 'request_id', type: 'uuid', primaryKeyConstraintName: 'attempt_pkey' })
  requestId!: string;

  @PrimaryColumn({ type: 'integer', primaryKeyConstraintName: 'attempt_pkey' })
  attempt!: number;

  @Column({ name: 'node_id', type: 'uuid' })
  nodeId!: string;

  @Column({ name: 'started_at', type: 'timestamptz' })
  startedAt!: Date;

  @Column({ name: 'ended_at', type: 'timestamptz', default: () => 'now()' })
  endedAt!: Date;

  @Column({ type: 'text' })
  outcome!: AttemptOutcome;

  @Column({ name: 'error_code', type: 'text', nullable: true })
  errorCode!: string | null;

  @Column({ name: 'error_message', type: 'text', nullable: true })
  errorMessage!: string | null;
}
