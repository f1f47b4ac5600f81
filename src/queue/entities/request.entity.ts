import { Check, Column, type ColumnType, Entity, Index, PrimaryColumn } from 'typeorm';
import type { Outcome, RequestState } from '../request-state.js';
import { optionTypes } from '../submit/submission-options.js';

/** One request, until retention drops its day: the id is a UUIDv7 and partitions the table. */
@Entity('request')
@Index('request_by_key', ['apiKeyId', 'id'], { where: '(api_key_id IS NOT NULL)' })
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
@Check('request_state_of_a_trace', `tracestate IS NULL OR traceparent IS NOT NULL`)
export class RequestEntity {
  @PrimaryColumn('uuid') id!: string;
  @Column('text') modelId!: string;
  @Column('uuid') apiKeyId!: string;
  @Column('text', { default: 'IN_QUEUE' }) state!: RequestState;
  @Column('text', { nullable: true }) outcome!: Outcome | null;
  @Column('smallint', { default: 0 }) priority!: number;
  /** Orders the requests of the same priority; kept so that a cancel finds the queue entry by key. */
  @Column('bigint') seq!: number;
  /** Its place among requests of the same model and priority, before seq. */
  @Column('bigint', { default: 0 }) virtualStart!: number;
  /** How often it was started; 0: never. */
  @Column('integer', { default: 0 }) attempt!: number;
  @Column('smallint', { default: 0 }) failedAttempts!: number;
  @Column('smallint', { default: 0 }) lostAttempts!: number;
  @Column('json', { nullable: true }) input!: unknown;
  @Column('json', { nullable: true }) output!: unknown;
  @Column('json', { nullable: true }) error!: unknown;
  @Column('integer', { nullable: true }) inferenceMs!: number | null;
  @Column('json', { nullable: true }) usage!: unknown;
  @Column('timestamptz', { default: () => 'clock_timestamp()' }) createdAt!: Date;
  @Column('timestamptz', { nullable: true }) expiresAt!: Date | null;
  @Column('timestamptz', { nullable: true }) startedAt!: Date | null;
  @Column('timestamptz', { nullable: true }) completedAt!: Date | null;
  @Column('text', { nullable: true }) baseUrl!: string | null;
  @Column('uuid', { nullable: true }) retriedAs!: string | null;
  @Column('timestamptz', { nullable: true }) erasedAt!: Date | null;
  /** How far calls that do not say it have read the output: the id of the last event. */
  @Column('text', { nullable: true }) outputReadTo!: string | null;
  /** Two options of its submission. All of them are columns, by the loop below. */
  declare traceparent: string | null;
  declare tracestate: string | null;
}

for (const [option, type] of Object.entries(optionTypes)) {
  const [one, list] = type.split('[', 2);
  const column = { type: one as ColumnType, array: list !== undefined, nullable: true };
  Column(column)(RequestEntity.prototype, option);
}
