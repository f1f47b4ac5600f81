import { Column, Entity, PrimaryColumn } from 'typeorm';

/** One request that waits. The primary key is the order in which they are claimed. */
@Entity('queue_entry')
export class QueueEntryEntity {
  @PrimaryColumn({ name: 'model_id', type: 'text', primaryKeyConstraintName: 'queue_entry_pkey' })
  modelId!: string;

  @PrimaryColumn({ type: 'smallint', primaryKeyConstraintName: 'queue_entry_pkey' })
  priority!: number;

  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'queue_entry_pkey' })
  seq!: number;

  @Column({ name: 'request_id', type: 'uuid' })
  requestId!: string;

  /** How often the request was started before. */
  @Column({ type: 'integer', default: 0 })
  attempt!: number;

  @Column({ name: 'expires_at', type: 'timestamptz', nullable: true })
  expiresAt!: Date | null;
}
