import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A request of a batch whose content was erased, maybe after its line was written to a file of the batch. */
@Entity('erased_line')
@Index('erased_line_left', ['batchId'], { where: 'NOT is_gone' })
export class ErasedLineEntity {
  @PrimaryColumn('uuid') batchId!: string;
  @PrimaryColumn('uuid') requestId!: string;
  /** The segments that had its line have been rewritten without it. */
  @Column('boolean', { default: false }) isGone!: boolean;
}
