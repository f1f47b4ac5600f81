import { Check, Column, Entity, PrimaryColumn } from 'typeorm';

/** A line of a batch that has been read and is not in a segment yet. */
@Entity('batch_line')
@Check(
  'batch_line_is_submitted_or_refused',
  '(request_id IS NULL) = (outcome IS NOT NULL) AND (request_id IS NULL) = (error IS NOT NULL)',
)
@Check('batch_line_outcome_is_known', `outcome IN ('failed', 'cancelled', 'expired')`)
export class BatchLineEntity {
  @PrimaryColumn('uuid') batchId!: string;
  /** The number of the line in the input, from 1 on. */
  @PrimaryColumn('integer') line!: number;
  /** null: it was not submitted. */
  @Column('uuid', { nullable: true }) requestId!: string | null;
  @Column('text') customId!: string;
  /** The outcome of a line that was not submitted; `error` says why. null: it was submitted. */
  @Column('text', { nullable: true }) outcome!: 'failed' | 'cancelled' | 'expired' | null;
  @Column('json', { nullable: true }) error!: unknown;
}
