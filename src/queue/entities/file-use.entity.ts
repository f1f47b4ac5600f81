import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A request that names a file of its own key. */
@Entity('file_use')
@Index('file_use_by_file', ['fileId'])
@Index('file_use_over', ['fileId'], { where: 'is_over' })
export class FileUseEntity {
  @PrimaryColumn('uuid') requestId!: string;
  @PrimaryColumn('uuid') fileId!: string;
  /** Not in the output alone: a retry names it too. */
  @Column('boolean') inInput!: boolean;
  /** The payload is gone. */
  @Column('boolean', { default: false }) isOver!: boolean;
}
