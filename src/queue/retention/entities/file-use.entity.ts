import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A request that names a file of its own key. */
@Entity('file_use')
@Index('file_use_by_file', ['fileId'])
@Index('file_use_over', ['fileId'], { where: 'is_over' })
export class FileUseEntity {
  @PrimaryColumn('uuid') requestId!: string;
  @PrimaryColumn('uuid') fileId!: string;
  /** True: the input names it, so a retry names it too. False: only the output does. */
  @Column('boolean') inInput!: boolean;
  /** True: the payload is deleted. */
  @Column('boolean', { default: false }) isOver!: boolean;
}
