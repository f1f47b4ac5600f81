import { Check, Column, Entity, PrimaryColumn } from 'typeorm';
import type { SegmentKind } from '../batch.js';

/** A part of a file that a batch writes. The file is its segments in the order of their numbers. */
@Entity('batch_segment')
@Check('batch_segment_kind_is_known', `kind IN ('output', 'errors')`)
@Check('batch_segment_is_not_empty', 'number >= 1 AND lines >= 1 AND bytes >= 1')
export class BatchSegmentEntity {
  @PrimaryColumn('uuid') batchId!: string;
  @PrimaryColumn('text') kind!: SegmentKind;
  @PrimaryColumn('integer') number!: number;
  @Column('uuid') fileId!: string;
  @Column('integer') lines!: number;
  @Column('bigint') bytes!: number;
}
