import { Column, Entity, PrimaryColumn } from 'typeorm';

/** One run of a node's share book. A holder whose row is gone may not use its shares. */
@Entity('limit_holder')
export class LimitHolderEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'limit_holder_pkey' })
  id!: string;

  /** The number of the last statement it ran: grows while the holder lives, and stops older ones that run late. */
  @Column({ type: 'bigint', default: 0 })
  beat!: number;
}
