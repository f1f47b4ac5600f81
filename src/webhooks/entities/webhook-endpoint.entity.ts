import { Column, Entity, PrimaryColumn, Unique } from 'typeorm';

/** Where a key wants to be called for all its requests. */
@Entity('webhook_endpoint')
@Unique('webhook_endpoint_url_is_unique', ['apiKeyId', 'url'])
export class WebhookEndpointEntity {
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid') apiKeyId!: string;
  @Column('text') url!: string;
  @Column('timestamptz', { default: () => 'clock_timestamp()' }) createdAt!: Date;
  /** When it answered 410; null: it is called. */
  @Column('timestamptz', { nullable: true }) disabledAt!: Date | null;
}
