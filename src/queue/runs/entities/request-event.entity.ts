import { Check, Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * One line of a request's log, or a change that no other row records. Append-only; `id` orders the events of a request.
 */
@Entity('request_event')
@Check('request_event_kind_is_known', `kind IN ('log', 'requeued', 'cancel_requested')`)
@Check('request_event_level_is_known', `level IN ('DEBUG', 'INFO', 'WARN', 'ERROR')`)
@Check('request_event_source_is_known', `source IN ('queue', 'runner', 'stdout', 'stderr')`)
@Check(
  'request_event_message_has_level_and_source',
  `(message IS NULL) = (level IS NULL) AND (message IS NULL) = (source IS NULL)`,
)
export class RequestEventEntity {
  @PrimaryColumn('uuid') requestId!: string;
  @PrimaryColumn('bigint', { default: () => `nextval('request_event_id')` }) id!: number;
  @Column('timestamptz', { default: () => 'clock_timestamp()' }) at!: Date;
  @Column('text') kind!: string;
  @Column('integer', { default: 0 }) attempt!: number;
  @Column('text', { nullable: true }) level!: string | null;
  @Column('text', { nullable: true }) source!: string | null;
  @Column('text', { nullable: true }) message!: string | null;
  @Column('timestamptz', { nullable: true }) pausedUntil!: Date | null;
}
