import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A link that signs in once, without a key. */
@Entity('sign_in_link')
@Index('sign_in_link_by_key', ['keyId'])
@Check('sign_in_link_hash_is_sha256', `octet_length(hash) = 32`)
export class SignInLinkEntity {
  @PrimaryColumn('bytea', { primaryKeyConstraintName: 'sign_in_link_pkey' }) hash!: Buffer;
  @Column('uuid', { name: 'api_key_id' }) keyId!: string;
  @Column('timestamptz', { name: 'created_at', default: () => 'now()' }) createdAt!: Date;
  @Column('timestamptz', { name: 'expires_at' }) expiresAt!: Date;
  @Column('timestamptz', { name: 'used_at', nullable: true }) usedAt!: Date | null;
}
