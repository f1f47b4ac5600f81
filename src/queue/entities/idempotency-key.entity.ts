import { Check, Column, Entity, PrimaryColumn } from 'typeorm';

/** Which request an `Idempotency-Key` of an API key stands for, and a SHA-256 of the body that it came with. */
@Entity('idempotency_key')
@Check('idempotency_key_fingerprint_is_sha256', 'octet_length(fingerprint) = 32')
export class IdempotencyKeyEntity {
  @PrimaryColumn({ name: 'api_key_id', type: 'uuid', primaryKeyConstraintName: 'idempotency_key_pkey' })
  apiKeyId!: string;

  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'idempotency_key_pkey' })
  key!: string;

  @Column({ name: 'request_id', type: 'uuid' })
  requestId!: string;

  @Column({ type: 'bytea' })
  fingerprint!: Buffer;

  @Column({ name: 'created_at', type: 'timestamptz', default: () => 'now()' })
  createdAt!: Date;
}
