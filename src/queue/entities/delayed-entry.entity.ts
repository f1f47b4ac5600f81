import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A request between two attempts: it keeps its queue key, but cannot be claimed before `readyAt`. */
@Entity('delayed_entry')
export class DelayedEntryEntity {
  @PrimaryColumn({ name: 'model_id', type: 'text', primaryKeyConstraintName: 'delayed_entry_pkey' })
  modelId!: string;

  @PrimaryColumn({ type: 'smallint', primaryKeyConstraintName: 'delayed_entry_pkey' })
  priority!: number;

  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'delayed_entry_pkey' })
  seq!: number;

  @Column({ name: 'request_id', type: 'uuid' })
  requestId!: string;

  /** How often the request was started before. */
  @Column({ type: 'integer', default: 0 })
  attempt!: number;

  @Column({ name: 'expires_at', type: 'timestamptz', nullable: true })
  expiresAt!: Date | null;

  @Index('delayed_entry_by_ready_at')
  @Column({ name: 'ready_at', type: 'timestamptz' })
  readyAt!: Date;
}
