import { Check, Column, Entity, PrimaryColumn, Unique } from 'typeorm';

/** A program that claims runs over HTTP, under the id it gives and its key. */
@Entity('worker')
@Unique('worker_id_is_unique_for_its_key', ['apiKeyId', 'id'])
@Check('worker_told_is_known', `told IN ('run', 'drain', 'stop')`)
@Check('worker_failures_are_not_negative', 'failures_in_row >= 0')
export class WorkerEntity {
  /** Derived from key and id. */
  @PrimaryColumn('uuid') uid!: string;
  @Column('uuid') apiKeyId!: string;
  @Column('text') id!: string;
  @Column('text') name!: string;
  @Column('text', { default: '' }) version!: string;
  @Column('jsonb', { default: {} }) labels!: Record<string, string>;
  /** The models whose runs it claims. */
  @Column('text', { array: true, default: [] }) models!: string[];
  /** As the worker reports it. */
  @Column('text', { default: '' }) state!: string;
  /** The order of an operator to the worker; with `stop`, its claims are answered 410. */
  @Column('text', { default: 'run' }) told!: 'run' | 'drain' | 'stop';
  @Column('timestamptz', { default: () => 'now()' }) seenAt!: Date;
  @Column('integer', { default: 0 }) failuresInRow!: number;
  /** The worker claims nothing before this time; null: it may claim at once. */
  @Column('timestamptz', { nullable: true }) claimsFrom!: Date | null;
}
