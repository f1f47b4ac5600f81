import { Check, Column, Entity, PrimaryColumn } from 'typeorm';

/** The request that an `Idempotency-Key` of an API key stands for, and a SHA-256 of the body that came with it. */
@Entity('idempotency_key')
@Check('idempotency_key_fingerprint_is_sha256', 'octet_length(fingerprint) = 32')
export class IdempotencyKeyEntity {
  @PrimaryColumn('uuid') apiKeyId!: string;
  @PrimaryColumn('text') key!: string;
  @Column('uuid') requestId!: string;
  @Column('bytea') fingerprint!: Buffer;
  @Column('timestamptz', { default: () => 'now()' }) createdAt!: Date;
}
