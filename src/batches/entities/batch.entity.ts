import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { BatchStatus, LineFault } from '../batch.js';

/** The lines of a file, each of which becomes a request of the key. */
@Entity('batch')
@Index('batch_by_key', ['apiKeyId', 'id'])
@Index('batch_open', ['dueAt'], { where: '(ended_at IS NULL)' })
@Index('batch_ended', ['endedAt'], { where: '(ended_at IS NOT NULL)' })
@Index('batch_once', ['apiKeyId', 'idempotencyKey'], {
  unique: true,
  where: '(idempotency_key IS NOT NULL)',
})
@Check(
  'batch_status_is_known',
  `status IN ('validating', 'in_progress', 'finalizing', 'completed', 'failed', 'expired', 'cancelling', 'cancelled')`,
)
@Check(
  'batch_ends_once',
  `(ended_at IS NOT NULL) = (status IN ('completed', 'failed', 'expired', 'cancelled'))`,
)
@Check('batch_early_end_is_known', `ends_as IN ('cancelled', 'expired')`)
@Check(
  'batch_ended_is_not_leased',
  '(lease_token IS NULL) = (leased_until IS NULL) AND (ended_at IS NULL OR lease_token IS NULL)',
)
@Check(
  'batch_counts_are_sane',
  `completed >= 0 AND failed >= 0 AND cancelled >= 0 AND expired >= 0
   AND completed + failed + cancelled + expired <= read_lines AND read_lines <= coalesce(total, 0)`,
)
export class BatchEntity {
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid') apiKeyId!: string;
  @Column('text', { default: 'validating' }) status!: BatchStatus;
  /** The format of its lines, and what the format stores. */
  @Column('text') format!: string;
  @Column('jsonb', { default: {} }) metadata!: object;
  /** The model of lines that name none. */
  @Column('text', { nullable: true }) modelId!: string | null;
  @Column('text', { nullable: true }) tag!: string | null;
  @Column('smallint') priority!: number;
  @Column('text', { nullable: true }) webhookUrl!: string | null;
  @Column('text', { nullable: true }) baseUrl!: string | null;
  @Column('uuid') inputFileId!: string;
  @Column('text', { nullable: true }) idempotencyKey!: string | null;
  @Column('bytea') fingerprint!: Buffer;
  @Column('integer') windowSeconds!: number;
  /** The lines of the input; null: it has not been read to its end yet. */
  @Column('integer', { nullable: true }) total!: number | null;
  /** Lines that became requests or were refused. */
  @Column('integer', { default: 0 }) readLines!: number;
  /** The bytes of these lines. */
  @Column('bigint', { default: 0 }) readBytes!: number;
  /** Lines in segments, by what became of them. */
  @Column('integer', { default: 0 }) completed!: number;
  @Column('integer', { default: 0 }) failed!: number;
  @Column('integer', { default: 0 }) cancelled!: number;
  @Column('integer', { default: 0 }) expired!: number;
  @Column('bigint', { default: 0 }) outputBytes!: number;
  @Column('bigint', { default: 0 }) errorBytes!: number;
  /** Why it failed. */
  @Column('jsonb', { default: [] }) errors!: LineFault[];
  /** What ends it before its last line; null: nothing has yet. */
  @Column('text', { nullable: true }) endsAs!: 'cancelled' | 'expired' | null;
  @Column('timestamptz', { default: () => 'clock_timestamp()' }) createdAt!: Date;
  @Column('timestamptz', { nullable: true }) startedAt!: Date | null;
  @Column('timestamptz', { nullable: true }) finalizingAt!: Date | null;
  @Column('timestamptz', { nullable: true }) cancellingAt!: Date | null;
  /** When the last segment was written. */
  @Column('timestamptz', { nullable: true }) collectedAt!: Date | null;
  @Column('timestamptz', { nullable: true }) endedAt!: Date | null;
  @Column('timestamptz') expiresAt!: Date;
  /** When a driver has to look at it again. */
  @Column('timestamptz', { default: () => 'clock_timestamp()' }) dueAt!: Date;
  @Column('uuid', { nullable: true }) leasedBy!: string | null;
  @Column('uuid', { nullable: true }) leaseToken!: string | null;
  @Column('timestamptz', { nullable: true }) leasedUntil!: Date | null;
}
