import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A call that was closed while it waited for its request. */
@Entity('abandoned_call')
@Index('abandoned_call_by_body', ['apiKeyId', 'fingerprint'])
@Index('abandoned_call_due', ['cancelAt'])
export class AbandonedCallEntity {
  @PrimaryColumn('uuid') requestId!: string;
  @Column('uuid') apiKeyId!: string;
  @Column('bytea') fingerprint!: Buffer;
  @Column('timestamptz') cancelAt!: Date;
}
