import { Check, Column, Entity, Index, PrimaryColumn, Unique } from 'typeorm';

/** A browser that signed in as a key. */
@Entity('session')
@Unique('session_hash_is_unique', ['hash'])
@Index('session_by_key', ['keyId'])
@Check('session_hash_is_sha256', `octet_length(hash) = 32`)
export class SessionEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'session_pkey' }) id!: string;
  @Column('bytea', { select: false }) hash!: Buffer;
  @Column('uuid', { name: 'api_key_id' }) keyId!: string;
  @Column('timestamptz', { name: 'created_at', default: () => 'now()' }) createdAt!: Date;
  @Column('timestamptz', { name: 'expires_at' }) expiresAt!: Date;
  @Column('timestamptz', { name: 'ended_at', nullable: true }) endedAt!: Date | null;
  @Column('text', { nullable: true }) address!: string | null;
  @Column('text', { name: 'user_agent', nullable: true }) userAgent!: string | null;
}
