import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A request that is cancelled at a time that its caller has set. */
@Entity('planned_cancel')
@Index('planned_cancel_due', ['cancelAt'])
export class PlannedCancelEntity {
  @PrimaryColumn('uuid') requestId!: string;
  @Column('timestamptz') cancelAt!: Date;
}
