import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** `ended`: the receiver wants no more, or there is nothing left to send; `failed`: all tries are used up. */
export const deliveryStates = ['pending', 'delivered', 'failed', 'ended'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/** One call of a receiver, and what it answered. */
export interface WebhookTry {
  /** In UTC with milliseconds. */
  at: string;
  /** null: no answer came, and `error` says why. */
  status: number | null;
  duration_ms: number;
  /** The first KiB of the answer; null once its request was erased. */
  body: string | null;
  error: string | null;
}

/** What one receiver is sent of one completion. */
@Entity('webhook_delivery')
@Check('webhook_delivery_state_is_known', `state IN ('pending', 'delivered', 'failed', 'ended')`)
@Check('webhook_delivery_only_pending_is_claimed', `claimed_by IS NULL OR state = 'pending'`)
@Check('webhook_delivery_step_is_sane', 'step >= 0')
@Index('webhook_delivery_pending', ['host', 'apiKeyId', 'nextTryAt'], { where: `state = 'pending'` })
@Index('webhook_delivery_given_up', ['requestId', 'id'], { where: `state IN ('failed', 'ended')` })
export class WebhookDeliveryEntity {
  @PrimaryColumn('uuid') requestId!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid') apiKeyId!: string;
  /** null: the request itself named the URL. */
  @Column('uuid', { nullable: true }) endpointId!: string | null;
  @Column('text') url!: string;
  /** With its port, in lower case: claims take turns by it. */
  @Column({ type: 'text', collation: 'C' }) host!: string;
  @Column('text', { default: 'pending' }) state!: DeliveryState;
  /** The last hundred, oldest first. */
  @Column('jsonb', { array: true, default: '{}' }) tries!: WebhookTry[];
  /** How many of the planned tries were made since it was last asked for. */
  @Column('smallint', { default: 0 }) step!: number;
  /** While it is claimed: when that claim is over. */
  @Column('timestamptz', { default: () => 'now()' }) nextTryAt!: Date;
  @Column('uuid', { nullable: true }) claimedBy!: string | null;
  @Column('timestamptz', { default: () => 'clock_timestamp()' }) createdAt!: Date;
  /** Its request was erased: no answer's body is stored. */
  @Column('boolean', { default: false }) isErased!: boolean;
}
