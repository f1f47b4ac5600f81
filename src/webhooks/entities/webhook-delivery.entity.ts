import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** `ended`: the receiver wants no more, or there is nothing left to send; `failed`: all tries are used up. */
export const deliveryStates = ['pending', 'delivered', 'failed', 'ended'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/** One call of a receiver, and its answer. */
export interface WebhookTry {
  /** In UTC with milliseconds. */
  at: string;
  /** null: no answer came, and `error` has the reason. */
  status: number | null;
  duration_ms: number;
  /** The first KiB of the answer; null once its request was erased. */
  body: string | null;
  error: string | null;
}

/** What is known of an event of a run only when it happens. */
export interface RunContent {
  /** In UTC with milliseconds. */
  at: string;
  /** If the event does not know it, the attempt that is in progress when the delivery is written. */
  attempt?: number;
  progress?: { value: number; message: string | null };
}

/** The delivery of one event to one receiver. */
@Entity('webhook_delivery')
@Check('webhook_delivery_state_is_known', `state IN ('pending', 'delivered', 'failed', 'ended')`)
@Check('webhook_delivery_only_pending_is_claimed', `claimed_by IS NULL OR state = 'pending'`)
@Check('webhook_delivery_step_is_sane', 'step >= 0')
@Index('webhook_delivery_pending', ['host', 'apiKeyId', 'nextTryAt'], { where: `state = 'pending'` })
@Index('webhook_delivery_given_up', ['requestId', 'id'], { where: `state IN ('failed', 'ended')` })
export class WebhookDeliveryEntity {
  @PrimaryColumn('uuid') requestId!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('text', { default: 'request.completed' }) event!: string;
  @Column('uuid') apiKeyId!: string;
  /** null: the request itself named the URL. */
  @Column('uuid', { nullable: true }) endpointId!: string | null;
  @Column('text') url!: string;
  /** The host with its port, in lower case. Claims take turns by it. */
  @Column({ type: 'text', collation: 'C' }) host!: string;
  @Column('text', { default: 'pending' }) state!: DeliveryState;
  /** The last hundred tries, oldest first. */
  @Column('jsonb', { array: true, default: '{}' }) tries!: WebhookTry[];
  /** The number of planned tries made since the delivery was last asked for. */
  @Column('smallint', { default: 0 }) step!: number;
  /** The time of the next try. While the delivery is claimed, the time at which the claim runs out. */
  @Column('timestamptz', { default: () => 'now()' }) nextTryAt!: Date;
  @Column('uuid', { nullable: true }) claimedBy!: string | null;
  @Column('timestamptz', { default: () => 'clock_timestamp()' }) createdAt!: Date;
  /** null: it is no event of a run, or its request was erased. */
  @Column('jsonb', { nullable: true }) content!: RunContent | null;
  /** Its request was erased, so no body of an answer is stored. */
  @Column('boolean', { default: false }) isErased!: boolean;
}
