import { Check, Column, Entity, PrimaryColumn } from 'typeorm';

/** One run going on. Every write of the run is fenced on its token. */
@Entity('lease')
@Check('lease_deadline_follows_start', 'deadline_at > started_at')
export class LeaseEntity {
  @PrimaryColumn('uuid') requestId!: string;
  @Column('uuid') token!: string;
  @Column('text') modelId!: string;
  @Column('uuid') nodeId!: string;
  @Column('integer') attempt!: number;
  @Column('timestamptz', { default: () => 'now()' }) startedAt!: Date;
  @Column('timestamptz') deadlineAt!: Date;
  @Column('timestamptz', { nullable: true }) cancelRequestedAt!: Date | null;
  @Column('integer', { default: 0 }) logLines!: number;
}
