import { Check, Column, Entity, PrimaryColumn } from 'typeorm';

/** How much of a caller's limit one holder may admit, and how much of that it has used. */
@Entity('limit_share')
@Check('limit_share_every_share_has_its_use', 'cardinality(shares) = cardinality(used)')
export class LimitShareEntity {
  @PrimaryColumn({ type: 'text', collation: 'C' })
  subject!: string;

  @PrimaryColumn({ type: 'text', collation: 'C' })
  routeClass!: string;

  @PrimaryColumn({ type: 'text', collation: 'C' })
  policy!: string;

  @PrimaryColumn({ type: 'uuid' })
  holderId!: string;

  /** One number per window of the policy, as in `used`. */
  @Column({ type: 'integer', array: true })
  shares!: number[];

  @Column({ type: 'integer', array: true })
  used!: number[];
}

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
