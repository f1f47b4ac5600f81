import { Check, Column, Entity, PrimaryColumn, UpdateDateColumn } from 'typeorm';
import type { Pause } from './model.js';

/** One endpoint of `models.yaml` as it was last read, with the overrides of operators. */
@Entity('model')
@Check(
  'model_settings_are_positive',
  'concurrency > 0 AND timeout_ms > 0 AND expires_ms > 0 AND attempts > 0',
)
@Check('model_concurrency_override_is_positive', 'concurrency_override > 0')
@Check('model_paused_is_known', `paused IN ('hold', 'reject')`)
@Check('model_queue_order_is_known', `queue_order IN ('fair', 'arrival')`)
@Check('model_reserve_is_not_negative', 'reserve_high >= 0 AND reserve_normal >= 0')
@Check(
  'model_group_has_slots',
  'num_nulls(group_id, group_concurrency, group_stay_ms) IN (0, 3) AND group_concurrency > 0 AND group_stay_ms >= 0',
)
export class ModelEntity {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'model_pkey' }) id!: string;
  @Column({ type: 'text', default: '' }) description!: string;
  @Column({ type: 'text' }) runner!: string;
  /** null: there is no bound, which only models that workers run may have. */
  @Column({ type: 'integer', nullable: true }) concurrency!: number | null;
  @Column({ name: 'timeout_ms', type: 'integer' }) timeoutMs!: number;
  @Column({ name: 'expires_ms', type: 'bigint', nullable: true }) expiresMs!: number | null;
  @Column({ type: 'integer' }) attempts!: number;
  @Column({ name: 'queue_order', type: 'text', default: 'fair' }) order!: string;
  @UpdateDateColumn({ name: 'updated_at', type: 'timestamptz', default: () => 'now()' }) updatedAt!: Date;
  /** null: the value of the file applies. */
  @Column({ name: 'concurrency_override', type: 'integer', nullable: true }) concurrencyOverride!:
    number | null;
  @Column({ name: 'concurrency_overridden_at', type: 'timestamptz', nullable: true })
  concurrencyOverriddenAt!: Date | null;
  @Column({ name: 'concurrency_overridden_by', type: 'text', nullable: true })
  concurrencyOverriddenBy!: string | null;
  @Column({ type: 'text', nullable: true }) paused!: Pause | null;
  @Column({ name: 'paused_at', type: 'timestamptz', nullable: true }) pausedAt!: Date | null;
  @Column({ name: 'paused_by', type: 'text', nullable: true }) pausedBy!: string | null;
  /** Slot grants of an earlier round start nothing. */
  @Column({ name: 'slot_round', type: 'integer', default: 0 }) slotRound!: number;
  /** The models that it shares slots with; null: its slots are its own. */
  @Column({ name: 'group_id', type: 'text', nullable: true }) groupId!: string | null;
  /** Runs at once of all models of the group. */
  @Column({ name: 'group_concurrency', type: 'integer', nullable: true }) groupConcurrency!: number | null;
  @Column({ name: 'group_stay_ms', type: 'integer', nullable: true }) groupStayMs!: number | null;
  /** Slots that are kept for requests of high priority. */
  @Column({ name: 'reserve_high', type: 'integer', default: 0 }) reserveHigh!: number;
  /** Slots that are kept for requests of normal priority or above, besides those. */
  @Column({ name: 'reserve_normal', type: 'integer', default: 0 }) reserveNormal!: number;
  /** The time at which it left the file; null: it is in the file. */
  @Column({ name: 'removed_at', type: 'timestamptz', nullable: true }) removedAt!: Date | null;
}
