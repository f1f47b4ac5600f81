import { Column, Entity, PrimaryColumn, Unique } from 'typeorm';
import { defaultEvents, type WebhookEventType } from '../webhook-events.js';

/** A URL at which a key wants to be called for all its requests. */
@Entity('webhook_endpoint')
@Unique('webhook_endpoint_url_is_unique', ['apiKeyId', 'url'])
export class WebhookEndpointEntity {
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid') apiKeyId!: string;
  @Column('text') url!: string;
  /** The events that it gets. */
  @Column('text', { array: true, default: [...defaultEvents] }) events!: WebhookEventType[];
  @Column('timestamptz', { default: () => 'clock_timestamp()' }) createdAt!: Date;
  /** The time at which it answered 410 or an operator disabled it; null: it is called. */
  @Column('timestamptz', { nullable: true }) disabledAt!: Date | null;
}
