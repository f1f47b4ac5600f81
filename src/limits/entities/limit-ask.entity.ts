import { Entity, PrimaryColumn } from 'typeorm';

/** Shares that other holders are asked to give back. */
@Entity('limit_ask')
export class LimitAskEntity {
  @PrimaryColumn({ name: 'holder_id', type: 'uuid', primaryKeyConstraintName: 'limit_ask_pkey' })
  holderId!: string;

  @PrimaryColumn({ type: 'text', collation: 'C', primaryKeyConstraintName: 'limit_ask_pkey' })
  subject!: string;

  @PrimaryColumn({
    name: 'route_class',
    type: 'text',
    collation: 'C',
    primaryKeyConstraintName: 'limit_ask_pkey',
  })
  routeClass!: string;

  @PrimaryColumn({ type: 'text', collation: 'C', primaryKeyConstraintName: 'limit_ask_pkey' })
  policy!: string;
}
