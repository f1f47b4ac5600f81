import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { OperatorFilter } from '../../queue/reads/request-filter.js';

export const operationActions = ['cancel', 'retry', 'erase'] as const;
export type OperationAction = (typeof operationActions)[number];
export type OperationState = 'collecting' | 'running' | 'stopping' | 'stopped' | 'done';

/** One action on many requests: those that its filter matched when it was started. */
@Entity('operation')
@Check('operation_action_is_known', `action IN ('cancel', 'retry', 'erase')`)
@Check('operation_state_is_known', `state IN ('collecting', 'running', 'stopping', 'stopped', 'done')`)
@Check('operation_ends_once', `(ended_at IS NOT NULL) = (state IN ('stopped', 'done'))`)
@Check(
  'operation_counts_are_sane',
  'done >= 0 AND skipped >= 0 AND failed >= 0 AND done + skipped + failed <= total',
)
@Index('operation_open', ['id'], { where: 'ended_at IS NULL' })
export class OperationEntity {
  @PrimaryColumn('uuid') id!: string;
  @Column('text') action!: OperationAction;
  @Column('jsonb') filter!: OperatorFilter;
  @Column('text', { default: 'collecting' }) state!: OperationState;
  /** Members found so far. */
  @Column('integer', { default: 0 }) total!: number;
  /** The last request examined. All newer ones were examined too. */
  @Column('uuid', { nullable: true }) collectedTo!: string | null;
  /** Members that succeeded. Each is counted in the commit that changed it. */
  @Column('integer', { default: 0 }) done!: number;
  /** Members that no longer qualified. */
  @Column('integer', { default: 0 }) skipped!: number;
  @Column('integer', { default: 0 }) failed!: number;
  @Column('text', { nullable: true }) lastError!: string | null;
  @Column('text', { nullable: true }) reason!: string | null;
  @Column('uuid', { nullable: true }) actorKeyId!: string | null;
  @Column('text') actorName!: string;
  @Column('timestamptz', { default: () => 'now()' }) createdAt!: Date;
  @Column('timestamptz', { nullable: true }) endedAt!: Date | null;
  @Column('uuid', { nullable: true }) claimedBy!: string | null;
  @Column('timestamptz', { nullable: true }) claimedUntil!: Date | null;
}
