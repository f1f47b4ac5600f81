import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A run that continues at a model server without the connection that began it. */
@Entity('followed_run')
export class FollowedRunEntity {
  @PrimaryColumn('uuid') requestId!: string;
  /** The number of the start that began it. */
  @PrimaryColumn('integer') start!: number;
  /** The attempt as a status counts it. The run is followed while this is the request's attempt. */
  @Column('integer') attempt!: number;
  @Column('text') modelId!: string;
  /** The address of the model, without user, password and query. */
  @Column('text') address!: string;
  /** What the runner keeps of the first answer; null: the run was sent, and perhaps not received. */
  @Column('json', { nullable: true }) answer!: Record<string, string | number> | null;
  @Column('timestamptz', { default: () => 'clock_timestamp()' }) beganAt!: Date;
  /** True: the run had lost its lease before it was written, so no node follows it. */
  @Column('boolean', { default: false }) isGivenUp!: boolean;
  /** How often its server was asked to cancel it. */
  @Column('smallint', { default: 0 }) cancelTries!: number;
  @Column('timestamptz', { default: () => 'clock_timestamp()' }) cancelAfter!: Date;
}
