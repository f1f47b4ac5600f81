import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { WebhookTry } from './webhook-delivery.entity.js';

/** The results of an hour of tries, for an endpoint of a key or for a host of URLs that requests named. */
@Entity('receiver_activity')
@Check('receiver_activity_counts_are_not_negative', 'delivered >= 0 AND given_up >= 0 AND failed_tries >= 0')
@Index('receiver_activity_by_hour', ['hour'])
export class ReceiverActivityEntity {
  /** All zeros: the URLs were named by requests. */
  @PrimaryColumn('uuid') endpointId!: string;
  /** Empty for an endpoint. */
  @PrimaryColumn({ type: 'text', collation: 'C' }) host!: string;
  @PrimaryColumn('timestamptz') hour!: Date;
  @Column('bigint', { default: 0 }) delivered!: number;
  /** Deliveries whose tries are all used up, or whose receivers want no more. */
  @Column('bigint', { default: 0 }) givenUp!: number;
  @Column('bigint', { default: 0 }) failedTries!: number;
  /** The last try, without the body of its answer. */
  @Column('jsonb') lastTry!: Omit<WebhookTry, 'body'>;
}
