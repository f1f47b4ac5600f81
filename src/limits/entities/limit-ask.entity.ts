import { Entity, PrimaryColumn } from 'typeorm';

/** Shares that other holders are asked to give back. */
@Entity('limit_ask')
export class LimitAskEntity {
  @PrimaryColumn({ type: 'uuid' })
  holderId!: string;

  @PrimaryColumn({ type: 'text', collation: 'C' })
  subject!: string;

  @PrimaryColumn({ type: 'text', collation: 'C' })
  routeClass!: string;

  @PrimaryColumn({ type: 'text', collation: 'C' })
  policy!: string;
}
