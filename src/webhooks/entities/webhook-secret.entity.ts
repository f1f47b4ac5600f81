import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A secret that signs deliveries of a key's requests. */
@Entity('webhook_secret')
@Index('webhook_secret_newest_is_one', ['apiKeyId'], { unique: true, where: 'expires_at IS NULL' })
export class WebhookSecretEntity {
  @PrimaryColumn('uuid') apiKeyId!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('bytea') secret!: Buffer;
  /** Encrypted with SECRETS_KEY. */
  @Column('boolean') isSealed!: boolean;
  @Column('timestamptz', { default: () => 'clock_timestamp()' }) createdAt!: Date;
  /** null: it is the newest. Until this time, webhooks are also signed with an older one. */
  @Column('timestamptz', { nullable: true }) expiresAt!: Date | null;
}
