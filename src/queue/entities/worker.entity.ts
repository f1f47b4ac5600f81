import { Check, Column, Entity, PrimaryColumn, Unique } from 'typeorm';

/** What claims runs over HTTP, as it says under its key that it is called. */
@Entity('worker')
@Unique('worker_id_is_unique_for_its_key', ['apiKeyId', 'id'])
@Check('worker_told_is_known', `told IN ('run', 'drain', 'stop')`)
@Check('worker_failures_are_not_negative', 'failures_in_row >= 0')
export class WorkerEntity {
  /** Made of key and id. */
  @PrimaryColumn('uuid') uid!: string;
  @Column('uuid') apiKeyId!: string;
  @Column('text') id!: string;
  @Column('text') name!: string;
  @Column('text', { default: '' }) version!: string;
  @Column('jsonb', { default: {} }) labels!: Record<string, string>;
  /** That it claims runs of. */
  @Column('text', { array: true, default: [] }) models!: string[];
  /** As it says. */
  @Column('text', { default: '' }) state!: string;
  /** What it is to do; `stop` is answered 410. */
  @Column('text', { default: 'run' }) told!: 'run' | 'drain' | 'stop';
  @Column('timestamptz', { default: () => 'now()' }) seenAt!: Date;
  @Column('integer', { default: 0 }) failuresInRow!: number;
  /** It claims nothing before; null: at once. */
  @Column('timestamptz', { nullable: true }) claimsFrom!: Date | null;
}
