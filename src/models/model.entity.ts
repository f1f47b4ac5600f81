import { Check, Column, Entity, PrimaryColumn, UpdateDateColumn } from 'typeorm';

/** One endpoint of `models.yaml` as it was last read, for those who look with SQL. */
@Entity('model')
@Check(
  'model_settings_are_positive',
  'concurrency > 0 AND timeout_ms > 0 AND expires_ms > 0 AND attempts > 0',
)
export class ModelEntity {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'model_pkey' }) id!: string;
  @Column({ type: 'text', default: '' }) description!: string;
  @Column({ type: 'text' }) runner!: string;
  @Column({ type: 'integer' }) concurrency!: number;
  @Column({ name: 'timeout_ms', type: 'integer' }) timeoutMs!: number;
  @Column({ name: 'expires_ms', type: 'bigint', nullable: true }) expiresMs!: number | null;
  @Column({ type: 'integer' }) attempts!: number;
  @UpdateDateColumn({ name: 'updated_at', type: 'timestamptz', default: () => 'now()' }) updatedAt!: Date;
}
