import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** `ended`: the receiver wants no more, or there is nothing left to send; `failed`: all tries are used up. */
export type DeliveryState = 'pending' | 'delivered' | 'failed' | 'ended';

/** What one receiver is sent of one completion. */
@Entity('webhook_delivery')
@Check('webhook_delivery_state_is_known', `state IN ('pending', 'delivered', 'failed', 'ended')`)
@Check('webhook_delivery_only_pending_is_claimed', `claimed_by IS NULL OR state = 'pending'`)
@Check('webhook_delivery_counts_are_sane', 'tries >= 0 AND step >= 0')
@Index('webhook_delivery_pending', ['host', 'nextTryAt'], { where: `state = 'pending'` })
@Index('webhook_delivery_by_request', ['requestId'])
export class WebhookDeliveryEntity {
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid') requestId!: string;
  @Column('uuid') apiKeyId!: string;
  /** null: the request itself named the URL. */
  @Column('uuid', { nullable: true }) endpointId!: string | null;
  @Column('text') url!: string;
  /** With its port, in lower case: claims take turns by it. */
  @Column({ type: 'text', collation: 'C' }) host!: string;
  @Column('text', { default: 'pending' }) state!: DeliveryState;
  @Column('integer', { default: 0 }) tries!: number;
  /** How many of the planned tries were made since it was last asked for. */
  @Column('smallint', { default: 0 }) step!: number;
  /** While it is claimed: when that claim is over. */
  @Column('timestamptz', { default: () => 'now()' }) nextTryAt!: Date;
  @Column('uuid', { nullable: true }) claimedBy!: string | null;
  @Column('timestamptz', { default: () => 'clock_timestamp()' }) createdAt!: Date;
}
