import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** What deliveries of a key's requests are signed with. */
@Entity('webhook_secret')
@Index('webhook_secret_newest_is_one', ['apiKeyId'], { unique: true, where: 'expires_at IS NULL' })
export class WebhookSecretEntity {
  @PrimaryColumn('uuid') apiKeyId!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('bytea') secret!: Buffer;
  /** Encrypted with SECRETS_KEY. */
  @Column('boolean') isSealed!: boolean;
  @Column('timestamptz', { default: () => 'clock_timestamp()' }) createdAt!: Date;
  /** null: the newest; an older one signs beside it until then. */
  @Column('timestamptz', { nullable: true }) expiresAt!: Date | null;
}
