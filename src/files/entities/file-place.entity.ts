import { Check, Column, Entity, PrimaryColumn } from 'typeorm';

/** The place of the bytes of all files. The table has one row at most. */
@Entity('file_place')
@Check('file_place_is_one', 'is_only')
export class FilePlaceEntity {
  @PrimaryColumn('boolean', { default: true }) isOnly!: boolean;
  @Column('text') place!: string;
}
