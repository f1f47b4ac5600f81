import { Column, Entity, PrimaryColumn, Unique } from 'typeorm';

/** A URL at which a key wants to be called for all its requests. */
@Entity('webhook_endpoint')
@Unique('webhook_endpoint_url_is_unique', ['apiKeyId', 'url'])
export class WebhookEndpointEntity {
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid') apiKeyId!: string;
  @Column('text') url!: string;
  @Column('timestamptz', { default: () => 'clock_timestamp()' }) createdAt!: Date;
  /** The time at which it answered 410 or an operator disabled it; null: it is called. */
  @Column('timestamptz', { nullable: true }) disabledAt!: Date | null;
}
